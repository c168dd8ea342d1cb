#!/bin/sh
# For node_exporter's text file collector; run it from cron or a timer after each check. The file is
# replaced as a whole.
exec wireproof gate /var/spool/wireproof --dialect openmetrics \
  --out /var/lib/node_exporter/textfile/wireproof.prom
