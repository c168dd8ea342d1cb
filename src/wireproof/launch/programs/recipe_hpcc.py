"""``hpccinf.txt``: what HPCC is asked for. It reads no options, only this file in its working
folder. Pure.
"""

from __future__ import annotations

import math

__all__ = ["hpcc_input"]

_ROWS = """\
HPLinpack benchmark input file
written by wireproof run hpcc: small matrices, the rings and the ping-pong are what is asked for
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
{order}          Ns
1            # of NBs
80           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
{rows}            Ps
{columns}            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
{order}          values of N
0            number of additional blocking sizes for PTRANS
80           values of NB
"""


def hpcc_input(processes: int) -> str:
    """The file for ``processes`` ranks: the squarest grid, and a matrix that takes seconds."""
    rows = next(one for one in range(math.isqrt(processes), 0, -1) if processes % one == 0)
    order = min(4000, 200 * max(2, math.isqrt(processes)))
    return _ROWS.format(rows=rows, columns=processes // rows, order=order)
