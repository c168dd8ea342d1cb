"""ReFrame: the fabric of a job's nodes is checked, and only a proven pass is one.

reframe -c examples/reframe/wireproof_check.py -r -S check_options=--nic,ib0,--link,hdr
"""

import json

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.backends import getlauncher
from reframe.core.builtins import performance_function, run_before, sanity_function, variable


@rfm.simple_test
class WireproofCheck(rfm.RunOnlyRegressionTest):
    """``wireproof check`` starts its ranks itself on the nodes of the allocation."""

    descr = "the interconnect of these nodes does what its links can do"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    nodes = variable(int, value=2)
    check_options = variable(typ.List[str], value=[])

    executable = "wireproof"
    time_limit = "30m"

    @run_before("setup")
    def ask_for_whole_nodes(self):
        self.num_tasks = self.nodes
        self.num_tasks_per_node = 1
        self.exclusive_access = True
        self.executable_opts = ["check", "--out", "result", *self.check_options]
        # ReFrame may come back to the folder of an earlier run: its result is no evidence of now.
        self.prerun_cmds = ["rm -rf result gate.json"]
        self.postrun_cmds = ["wireproof gate result --max-age 2h --json > gate.json"]
        self.keep_files = ["result", "gate.json"]

    @run_before("run")
    def start_it_once(self):
        self.job.launcher = getlauncher("local")()

    @sanity_function
    def proven(self):
        """The verdict, and not that some line was printed: a check that did not run has none."""
        gate = self.verdict()
        return sn.assert_eq(gate["verdict"], "pass", f"{gate['subject']}: {gate['reason']}")

    @performance_function("nodes")
    def nodes_passing(self):
        return sum(node["verdict"] == "pass" for node in self.verdict()["nodes"])

    @sn.deferrable
    def read(self):
        with open("gate.json", encoding="utf-8") as file:
            return json.load(file)

    def verdict(self):
        return sn.evaluate(self.read())
