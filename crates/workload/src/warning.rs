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
    PRIORITY_GROUPS_IGNORED = "priority_groups_ignored" {
        says: "{file}: priority groups {groups} are treated alike",
        means: "The HPCC flow file puts flows into several priority groups. Here the class of a packet \
                follows from its transport, not from the flow.",
        remedy: "Nothing, if the groups do not matter; else assign transports to classes of flows \
                 (`[[transport.assign]]`).",
    }
    KEY_IGNORED = "key_ignored" {
        says: "{file}: `{key}` is ignored",
        means: "A key of htsim's connection matrix that has no counterpart here.",
        remedy: "Nothing, unless the key matters to the comparison with htsim.",
    }
    TRIGGER_STARTS_NOTHING = "trigger_starts_nothing" {
        says: "{file}:{line}: trigger {trigger} starts no connection",
        means: "htsim's connection matrix defines a trigger that no connection waits for.",
        remedy: "Check the ids of the triggers; remove it if it is not needed.",
    }
    TRIGGER_ORDER = "trigger_order" {
        says: "{file}:{line}: multishot trigger {trigger}: the k-th connection it starts waits for the \
               k-th connection that fires it, in the order of the file",
        means: "htsim starts the k-th connection when any k of the others have fired the trigger. Here \
                which one it waits for is fixed by the order of the file. Both agree if they finish in \
                that order.",
        remedy: "Sort the connections that fire it in the order in which they finish.",
    }
}
