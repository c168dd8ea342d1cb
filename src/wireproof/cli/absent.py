"""Who is not there: asked before each launch, so that one dead node costs one sentence and not the whole job."""

from __future__ import annotations

from wireproof.cli.place import Place

__all__ = ["absent", "nobody"]

TIMEOUT_S = 10.0


def absent(place: Place, ranks: tuple[int, ...]) -> dict[int, str]:
    """Rank to one sentence, for each of ``ranks`` whose host does not answer.

    A lab knows its nodes, a scheduler its own; other hosts are asked the way the launcher will reach them.
    """
    if not place.hosts or not ranks:
        return {}
    hosts = sorted({place.start_on[rank] for rank in ranks})
    if place.lab is not None and place.allocation is None:
        alive = {node.name: node.alive for node in place.lab.status().nodes}
        why = {host: f"{host} was lost: the lab's node has died" for host in hosts if not alive.get(host, False)}
    elif place.allocation is not None and place.allocation.scheduler == "slurm":
        from wireproof.launch.slurm_job import node_states

        states = node_states(hosts, place.through())
        why = {
            host: f"{host} cannot be used: Slurm calls it {one.state}" + (f" ({one.reason})" if one.reason else "")
            for host, one in states.items()
            if not one.usable
        }
    elif place.allocation is not None and not place.reached_by_agent:
        why = {}
    else:
        from wireproof.launch.fanout import reachable

        answers = reachable(hosts, agent=place.agent, timeout_s=TIMEOUT_S)
        why = {host: f"{host} cannot be reached: {text}" for host, text in answers.items() if text}
    return {rank: why[place.start_on[rank]] for rank in ranks if place.start_on[rank] in why}


def nobody(_place: Place, _ranks: tuple[int, ...]) -> dict[int, str]:
    """For transports that play all ranks in one process: their hosts are names only."""
    return {}
