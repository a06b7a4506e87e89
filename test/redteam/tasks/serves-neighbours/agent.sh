#!/bin/bash
# Listens on every address, so that a neighbouring trial could fetch the answer.
perl -e 'use Socket;
socket(my $s, PF_INET, SOCK_STREAM, 0); setsockopt($s, SOL_SOCKET, SO_REUSEADDR, 1);
bind($s, sockaddr_in(47812, INADDR_ANY)) or die; listen($s, 5);
print "listening\n"; $| = 1; print "";
$SIG{ALRM} = sub { exit 0 }; alarm 8;
while (accept(my $c, $s)) { print $c "secret-of-the-outside\n"; close $c }'
