//! Warnings about topology files of other tools.

incast_units::warnings! {
    /// Kinds of warnings about topology files.
    pub static WARNINGS;
    NVSWITCHES_LEFT_OUT = "nvswitches_left_out" {
        says: "left out {nvswitches} NVSwitches and their {links} links: traffic inside a server takes \
               the fabric, but that of a [[job]] with {server}",
        means: "A topology of SimAI joins the GPUs of a server by NVSwitches. Only the network between \
                servers is modelled, so traffic between two GPUs of a server crosses it. What ranks of a job send each other can \
                stay in their server; the sentence has the keys for it, with the numbers of the file: the least rate of a GPU, and \
                twice the longest delay of such a link.",
        remedy: "Give the job these keys. Leave other flows inside a server out of the traffic, or read their times with care.",
    }
    DELAYS_IN_SECONDS = "delays_in_seconds" {
        says: "{file}: delays without a unit are taken as seconds, as ns-3 does: the longest is {longest}",
        means: "The topology file gives the delay of a link as a number alone.",
        remedy: "Compare the longest delay with what the file should have, and give delays a unit.",
    }
    PARALLEL_LINKS = "parallel_links" {
        says: "{file}: {links} links are beside others of the same two switches; packets are spread over all",
        means: "The topology file links some switches several times. Routes take each of these links as a path. \
                Simulators of the HPCC family use the last one only.",
        remedy: "Nothing, or one line for each pair.",
    }
    HOSTS_WITH_NICS = "hosts_with_nics" {
        says: "{file}: {hosts} hosts have several links and are servers with a NIC for each: server0/nic0 and so on",
        means: "Each NIC is a host here. Traffic names servers, and `fabric.nic` says which NIC a flow takes.",
        remedy: "Nothing, or `fabric.nic`; `incast check` says so if two NICs have no path to each other.",
    }
    HOSTS_FORWARD = "hosts_forward" {
        says: "{file}: {hosts} hosts forward: each has a switch on its board, which its other links are at",
        means: "The topology file links hosts to each other, as in rings and tori, or `fabric.hosts_forward` says so. A \
                host with several links is a host and a switch, joined by a link as fast as its links together, without \
                propagation.",
        remedy: "Nothing; a packet is stored once more at its source and its destination.",
    }
    LINES_IGNORED = "lines_ignored" {
        says: "{file}: {counted} links are counted in the header and read; {left} {lines} behind them, from \
               line {line} on, not ({links} of them links)",
        means: "The topology file goes on after the number of links that its header states. HPCC and its \
                descendants read as many and stop.",
        remedy: "Compare the number of links in the header with the file.",
    }
    TORS_DISAGREE = "tors_disagree" {
        says: "the header says {stated} ToRs, {found} switches have hosts",
        means: "The header of the topology file and its links disagree. The links count: a rack is a \
                switch with hosts.",
        remedy: "Correct the header or the links.",
    }
    RADIX_IGNORED = "radix_ignored" {
        says: "Radix_Up {radix} of the top tier is ignored",
        means: "htsim's topology file gives the top tier links upwards, where nothing is.",
        remedy: "Remove the line.",
    }
    SWITCH_LATENCY_IN_LINKS = "switch_latency_in_links" {
        says: "switch latency is counted as propagation of the links towards the switch",
        means: "htsim delays a packet in the switch. Here the same time is part of the propagation of \
                the link before it, so packets arrive at the same time and the breakdown counts it as \
                propagation.",
        remedy: "Nothing.",
    }
}
