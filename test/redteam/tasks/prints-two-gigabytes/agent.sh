#!/bin/bash
# Prints two gigabytes, to exhaust the memory or the disk of whoever keeps its output.
echo begin
head -c 2000000000 /dev/zero | tr '\0' 'x'
echo
echo end
