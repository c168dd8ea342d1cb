"""Rules for MPI launches: options, variables, and whether it is the wire that will be measured."""

from __future__ import annotations

from wireproof.lint.rule import Rule

__all__ = ["RULES"]

_OMPI = "https://docs.open-mpi.org/en/v5.0.x/man-openmpi/man1/mpirun.1.html"
_HYDRA = "mpiexec.hydra -help of Intel MPI 2021 and MPICH 4"
_IMPI = "Intel MPI Library developer reference for Linux, environment variables"
_PLACEMENT = (
    "Intel MPI developer guide, job schedulers support; I_MPI_JOB_RESPECT_PROCESS_PLACEMENT"
)

RULES: tuple[Rule, ...] = (
    Rule(
        "missing-continuation",
        "The launch line ends before its program; the next line is a command of its own.",
        "The launcher starts nothing, and then the shell runs the program once, on one node, "
        "without MPI.",
        "mpirun -n 2 -N 1 \\",
        "POSIX shell, escape character: a backslash at the line's end continues it",
        safe=True,
    ),
    Rule(
        "program-missing",
        "The launch line names no program.",
        "The launcher stops with an error: there is nothing to start.",
        "mpirun -n 2 PROGRAM",
        _OMPI,
    ),
    Rule(
        "option-removed",
        "Intel MPI 2019 and later do not have this option.",
        "mpiexec.hydra stops: 'unrecognized argument'. The fabric is chosen by variables.",
        "-genv I_MPI_FABRICS ofi -genv FI_PROVIDER mlx (InfiniBand), psm2 (Omni-Path) or tcp",
        _HYDRA,
    ),
    Rule(
        "option-of-another-mpi",
        "The option belongs to another MPI's launcher.",
        "The launcher stops ('unknown option', 'unrecognized argument'), or takes the option for "
        "the program.",
        "-genv, -ppn, -hosts for Intel MPI and MPICH; --mca, -x, --map-by for Open MPI",
        _OMPI + "; " + _HYDRA,
    ),
    Rule(
        "mca-equals",
        "--mca wants name and value as two words.",
        "With = the next word is eaten as the value, and the option is not set.",
        "--mca btl self,tcp",
        _OMPI,
        safe=True,
    ),
    Rule(
        "btl-without-self",
        "The list of BTLs does not have self.",
        "A rank cannot send to itself then, and Open MPI stops where a program does.",
        "--mca btl self,tcp",
        "https://www.open-mpi.org/faq/?category=tcp#tcp-btl",
        severity="warning",
        setting="env-ompi-mca-btl",
    ),
    Rule(
        "component-removed",
        "Newer Open MPI does not have this component.",
        "Open MPI 5 has no openib, yalla, mxm and psm: the selection fails there and their "
        "variables are not read, UCX and OFI are in their place.",
        "--mca pml ucx (InfiniBand, RoCE), or --mca pml cm --mca mtl psm2 (Omni-Path)",
        "https://docs.open-mpi.org/en/v5.0.x/release-notes/changelog/v5.0.x.html",
        severity="warning",
    ),
    Rule(
        "srun-starts-mpirun",
        "srun starts mpirun once per task.",
        "Each of them starts all ranks: there are several jobs instead of one, and they share the "
        "nodes.",
        "srun PROGRAM, or mpirun PROGRAM",
        "https://slurm.schedmd.com/mpi_guide.html",
    ),
    Rule(
        "program-other-prefix",
        "The program's path is not below the folder that it was installed into.",
        "The file does not exist there, or it is an older build for another MPI.",
        "the prefix of 'make install' in the path",
        "the same text: its configure or make install line",
    ),
    Rule(
        "path-overwritten",
        "PATH gets a new value without the old one.",
        "No other program is found after this line: no srun, no hostname, no sed.",
        "export PATH=/usr/lib64/openmpi/bin:$PATH",
        "POSIX, environment variables, PATH",
        safe=True,
    ),
    Rule(
        "more-ranks-than-hosts",
        "There are more ranks than slots on the hosts of the list.",
        "Open MPI counts one slot for each mention of a host and stops: 'not enough slots "
        "available'.",
        "--host n1:2,n2:2",
        _OMPI + " (--host)",
    ),
    Rule(
        "variable-misspelt",
        "No library reads an environment variable of this name.",
        "It is silently ignored, and the run has the default instead of what was meant.",
        "I_MPI_PIN_PROCESSOR_LIST=0-23",
        "the documentation of Intel MPI, libfabric, PSM2, PSM3, UCX, NCCL; ompi_info --all",
        safe=True,
    ),
    Rule(
        "variable-removed",
        "This environment variable belongs to a transport that Intel MPI 2019 and later do not "
        "have.",
        "It is ignored: TMI, DAPL, OFA and RDMA fabrics are gone, OFI with its providers is in "
        "their place.",
        "FI_PROVIDER=mlx (InfiniBand), psm2 (Omni-Path) or tcp",
        _IMPI + "; release notes of 2019",
    ),
    Rule(
        "variable-without-effect",
        "There is no such variable; nothing is printed or changed.",
        "The library of this generation does not have it.",
        "PSM3_PRINT_STATS=1 (PSM3); hfi1stats or opapmaquery (PSM2)",
        "opa-psm2 and libfabric psm3 sources, list of environment variables",
    ),
    Rule(
        "value-invalid",
        "The variable does not take this value.",
        "The library stops, or warns and takes its default.",
        "a value from its documentation",
        "the documentation of Intel MPI, libfabric, PSM3, NCCL",
    ),
    Rule(
        "fabric-removed",
        "Intel MPI 2019 and later have no such fabric: only shm, ofi and shm:ofi.",
        "The choice is refused or ignored, and the fabric is another than the script says.",
        "I_MPI_FABRICS=ofi FI_PROVIDER=mlx (InfiniBand), psm2 (Omni-Path) or tcp",
        _IMPI + ", I_MPI_FABRICS",
        setting="env-i-mpi-fabrics",
    ),
    Rule(
        "fabric-is-provider",
        "A libfabric provider is named where Intel MPI wants a fabric, or the other way round.",
        "I_MPI_FABRICS takes shm, ofi or shm:ofi; which hardware ofi uses is said by FI_PROVIDER.",
        "I_MPI_FABRICS=ofi FI_PROVIDER=mlx (InfiniBand), psm2 (Omni-Path) or tcp",
        _IMPI + ", I_MPI_FABRICS and FI_PROVIDER",
        setting="env-i-mpi-fabrics",
    ),
    Rule(
        "flow-credits-form",
        "PSM3_FLOW_CREDITS has the form of another PSM3 version.",
        "Up to PSM3 3.6 it is one number; 3.7 and later take MIN:MAX:ADJUST, so one number no "
        "longer fixes the pace.",
        "PSM3_FLOW_CREDITS=16:16:0 (PSM3 3.7 and later)",
        "libfabric prov/psm3, PSM3_FLOW_CREDITS",
        severity="warning",
        setting="env-psm3-flow-credits",
    ),
    Rule(
        "rdma-default-claimed",
        "PSM3_RDMA=0 is called the default.",
        "That holds up to PSM3 3.6; from 3.7 it is 1 where the rv module is loaded. Read it back "
        "(PSM3_IDENTIFY=1).",
        "PSM3_RDMA=0 set, and PSM3_IDENTIFY=1 to prove it",
        "libfabric prov/psm3 3.7.0.0, verbs_ep.c",
        severity="warning",
        setting="env-psm3-rdma",
    ),
    Rule(
        "ppn-under-slurm",
        "Under Slurm, Intel MPI takes the placement of the scheduler and ignores -ppn.",
        "Both ranks may start on one node: shared memory is measured, and the numbers look "
        "splendid.",
        "#SBATCH --ntasks-per-node=1",
        _PLACEMENT,
    ),
    Rule(
        "ranks-on-one-node",
        "Nothing says that the ranks go to different nodes.",
        "Launchers fill the first node before they take the second: shared memory is measured.",
        "#SBATCH --ntasks-per-node=1, or -ppn 1, -N 1, --map-by ppr:1:node",
        "https://docs.open-mpi.org/en/v5.0.x/man-openmpi/man1/mpirun.1.html (mapping by slot)",
    ),
    Rule(
        "no-fabric-selection",
        "Nothing says which fabric Intel MPI is to use.",
        "It takes what it finds: with several networks it is not known which one the number "
        "belongs to.",
        "-genv I_MPI_DEBUG 5 -genv FI_PROVIDER tcp -genv FI_TCP_IFACE eth1 (or FI_PROVIDER psm2 on "
        "Omni-Path, mlx on InfiniBand, psm3 on RoCE)",
        "Intel MPI developer reference, FI_PROVIDER; libfabric fi_provider(7)",
        severity="warning",
    ),
    Rule(
        "no-interface",
        "Nothing says which network interface TCP is to use.",
        "The library takes the first, or all: management and fast network are mixed in one number.",
        "--mca btl_tcp_if_include 10.10.40.0/24; FI_TCP_IFACE=eth1; UCX_NET_DEVICES=eth1",
        "https://docs.open-mpi.org/en/v5.0.x/tuning-apps/networking/tcp.html; libfabric fi_tcp(7)",
        severity="warning",
    ),
    Rule(
        "pml-not-forced",
        "BTLs are chosen, but not the PML that uses them.",
        "Where Open MPI finds UCX or an OFI provider it takes the pml ucx or cm, and the list of "
        "BTLs has no effect.",
        "--mca pml ob1 --mca btl self,tcp",
        "https://docs.open-mpi.org/en/v5.0.x/mca.html; ompi_info --param pml all",
        severity="warning",
        setting="env-ompi-mca-pml",
    ),
    Rule(
        "one-sided-over-tcp",
        "A one-sided benchmark runs over TCP with the component that Open MPI takes by itself.",
        "Open MPI 4 may abort in MPI_Win_allocate then; Open MPI 5 has no pt2pt and needs none.",
        "--mca osc pt2pt (Open MPI 4)",
        "tried with Open MPI 4.1 over TCP between two hosts",
        severity="warning",
    ),
    Rule(
        "shared-memory-only",
        "Only shared memory is allowed, yet the ranks are on several nodes.",
        "The ranks cannot reach each other; or they are on one node, and no wire is measured.",
        "I_MPI_FABRICS=ofi; --mca btl self,tcp; UCX_TLS=tcp,self",
        "Intel MPI developer reference, I_MPI_FABRICS: shm is for one node only",
    ),
    Rule(
        "first-two-ranks",
        "This benchmark uses ranks 0 and 1 only, and both are on one node.",
        "The other ranks wait; what is measured is shared memory.",
        "-n 2 -ppn 1, or IMB's -map 2xN",
        "Intel MPI Benchmarks user guide, single transfer benchmarks",
        severity="warning",
    ),
    Rule(
        "variable-not-forwarded",
        "Open MPI does not carry this variable to the other hosts.",
        "Without -x only OMPI_* variables travel by ssh: the remote ranks run with other settings.",
        "mpirun -x UCX_NET_DEVICES …",
        "https://docs.open-mpi.org/en/v5.0.x/man-openmpi/man1/mpirun.1.html (-x)",
        severity="warning",
    ),
)
