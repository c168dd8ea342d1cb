"""The kernel's table of sockets: which of them listen."""

from __future__ import annotations

from wireproof.workflow.tune.trial.command import listeners

HEAD = "  sl  local_address rem_address   st tx_queue tr tm->when retrnsmt uid timeout inode\n"
ROW = "   {n}: 0100007F:1F90 00000000:0000 {state} 0:0 00:00000000 00000000  0 0 {inode} 1 x\n"


def test_only_sockets_that_listen_count():
    rows = [ROW.format(n=0, state="0A", inode=71), ROW.format(n=1, state="01", inode=72)]
    assert listeners(HEAD + "".join(rows)) == ["71"]


def test_a_table_that_is_cut_or_empty_is_read_as_far_as_it_goes():
    assert listeners("") == []
    assert listeners(HEAD + "   0: 0100007F:1F90 00000000:0000 0A 0000") == []
