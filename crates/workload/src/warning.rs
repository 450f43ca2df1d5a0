//! Warnings about traffic.

incast_units::warnings! {
    /// Kinds of warnings about traffic.
    pub static WARNINGS;
    LOAD_ABOVE_CAPACITY = "load_above_capacity" {
        says: "load {load} is not below what the fabric can carry: queues grow for as long as flows \
               arrive, and completion times depend on the length of the run",
        means: "At a load of 1 or more the network has no steady state. Completion times are those of \
                a queue that grows, and a longer run gives longer ones.",
        remedy: "Ask for a load below 1; or state the length of the run beside every number and compare \
                 only runs of equal length.",
    }
    HOST_LINKS_OVERLOADED = "host_links_overloaded" {
        says: "the slowest host links would have to carry {share} of their rate: they are overloaded, \
               not only the place where load {load} is measured",
        means: "In an oversubscribed fabric, or one with links of several rates, the load is measured \
                at one place, and the slowest host links have more to carry than they can.",
        remedy: "Lower the load until the share is below 1, or give the hosts faster links.",
    }
    FEW_BYTES_DRAWN = "few_bytes_drawn" {
        says: "the {flows} flows drawn carry {percent} % of their expected bytes, so the load they \
               bring differs from {load} by as much; more flows bring it closer",
        means: "Sizes are drawn from a distribution with a long tail, and this sample is more than \
                10 % off its mean. Every transport of the run gets the same flows, so a comparison \
                between them is fair; the load on the axis is not the one the network saw.",
        remedy: "More flows, or several seeds (`[study] seeds`).",
    }
    SIZE_UNIT_TAKEN = "size_unit_taken" {
        says: "{file}: sizes are taken as {unit}, because {reason}: mean {mean}; as {other_unit} it would \
               be {other} (size_unit = \"{key}\")",
        means: "A file of sizes does not say what its sizes count, and files with the same columns count \
                bytes with one tool and packets with another. A wrong unit moves every size by a factor \
                of 1460.",
        remedy: "Compare the mean with what the file should have, and state the unit with `size_unit`.",
    }
    SIZES_BY_THE_MEAN = "sizes_by_the_mean" {
        says: "{file}: sizes are taken as {unit} and {shape}, because the mean is then the stated \
               {stated}: {mean}; as {other_unit} it would be {other} (size_unit = \"{key}\")",
        means: "A file in Homa's format states its mean. Of steps and straight lines, of bytes and \
                packets, the first reading that has this mean within 1 % is taken. A file of packets \
                whose mean is in packets as well looks as if it counted bytes.",
        remedy: "Compare the mean with what the file should have, and state the unit with `size_unit`.",
    }
    START_UNIT_TAKEN = "start_unit_taken" {
        says: "{file}: starts are taken as {unit}, because {reason}: the last is at {last}; as \
               {other_unit} it would be at {other} (start_unit = \"{key}\")",
        means: "htsim's older connection matrices have starts in microseconds, newer ones in whole \
                picoseconds, and the file does not say which.",
        remedy: "Compare the last start with what the file should have, and state the unit with \
                 `start_unit`.",
    }
    ENDLESS_FLOWS = "endless_flows" {
        says: "{flows} of 1 TB or more: taken as flows without an end, no part of the offered load; {ends}",
        means: "Files of HPCC write a flow without an end as one of 1 TB, htsim's as one of size 0. Such a \
                flow sends until the run ends; it is not expected to complete, and its goodput is shown.",
        remedy: "Nothing, or let the run end with `run.until`.",
    }
    FLOW_LINES_IGNORED = "flow_lines_ignored" {
        says: "{file}: {flows} flows are counted in the first line and read; {left} {lines} behind them, \
               from line {line} on, not",
        means: "The flow file goes on after the number of flows that its first line states. HPCC and its \
                descendants read as many and stop: people lower the number to run fewer, and leave \
                remarks at the end.",
        remedy: "Nothing, or raise the number in the first line.",
    }
    RESULTS_AS_FLOWS = "results_as_flows" {
        says: "{file}: the flows of a run's results: ends, size, start, class, priority and the end of flows \
               without one are taken, transport and results are not; {left} flows that had not started are left out",
        means: "A `flows.csv` or `flows.parquet` of Incast is used as a flow list. Flows that waited for \
                others start when they did in that run.",
        remedy: "Nothing.",
    }
    PRIORITY_GROUPS_ALIKE = "priority_groups_alike" {
        says: "{file}: priority groups {groups} are treated alike, for ports have one queue of data",
        means: "The flow file puts flows into several priorities, such as the column `pg` of HPCC, and the \
                scenario has no queues for them.",
        remedy: "Nothing, if the groups do not matter; else declare queues, such as `fabric.queues = \
                 [\"strict\", 3, 1]`: a flow of group 2 is then in the second one.",
    }
    KEY_IGNORED = "key_ignored" {
        says: "{file}: `{key}` is ignored",
        means: "A key of htsim's connection matrix that has no counterpart here.",
        remedy: "Nothing, unless the key matters to the comparison with htsim.",
    }
    TRIGGER_STARTS_NOTHING = "trigger_starts_nothing" {
        says: "{file}:{line}: trigger {trigger}{more} starts no connection",
        means: "htsim's connection matrix defines triggers that no connection waits for. The first one \
                is named.",
        remedy: "Check the ids of the triggers; remove those that are not needed.",
    }
    TRIGGER_ORDER = "trigger_order" {
        says: "{file}:{line}: multishot trigger {trigger}{more}: the k-th connection it starts waits for \
               the k-th connection that fires it, in the order of the file",
        means: "htsim starts the k-th connection when any k of the others have fired the trigger. Here \
                which one it waits for is fixed by the order of the file. Both agree if they finish in \
                that order. The first such trigger is named.",
        remedy: "Sort the connections that fire it in the order in which they finish.",
    }
}
