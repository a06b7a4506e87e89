#!/bin/bash
# Opens files of the host's file system by handle, past every mount (open_by_handle_at). A handle is
# one of the file system that a mount belongs to, so every mount of the host's is tried.
perl -e '
  # x86-64: open_by_handle_at 304; aarch64: 265.
  my $open = `uname -m` =~ /aarch64/ ? 265 : 304;
  for my $path ("/", "/usr", "/etc/hosts", "/etc/resolv.conf", "/etc/hostname") {
    open(my $mount, "<", $path) or next;
    for my $inode (2, 1, 128, 256) {
      my $handle = pack("IiII", 8, 1, $inode, 0);
      my $fd = syscall($open, fileno($mount), $handle, 0);
      print $fd >= 0 ? "$path inode $inode: went through\n" : "$path inode $inode: blocked ($!)\n";
    }
  }'
