-- Wireshark dissector for Incast's transport header (IPv4 protocol 253).
-- The layouts are those of crates/wire: header.rs, extension.rs and codec.rs. What the fields mean
-- to a transport is declared in crates/protocols/src/*/headers.rs, from which a part of this file
-- is generated.

local incast = Proto("incast", "Incast Transport")

incast.prefs.transports = Pref.string("Transport names", "",
    "Names for transports' numbers in place of their own, such as 99=mine")
incast.prefs.check_checksum = Pref.bool("Validate the transport checksum", true,
    "The checksum covers the transport header and the extension")

local data_flags = {
    { 1, "LAST", "Last packet of the flow" },
    { 2, "UNSCHEDULED", "Sent without a grant, credit or pull" },
    { 4, "PULL", "Also counts as a pull" },
    { 8, "REQUEST", "Names a packet to send first" },
    { 16, "TAGGED", "Tag is valid" },
}
local tcp_flags = {
    { 1, "ACK", "Acknowledges" },
    { 2, "ECE", "ECN echo" },
    { 4, "CWR", "Congestion window reduced" },
    { 8, "SYN", "Opens a connection" },
    { 16, "FIN", "Last segment of the flow" },
}
local TRIMMED = 1
local packet_flags = {
    { TRIMMED, "TRIMMED", "Payload was cut off by a switch" },
    { 2, "BOUNCED", "Sent back to its source by a switch" },
    { 4, "RETRANSMIT", "Not the first transmission of these bytes" },
}

-- What the twelve bytes of a transport's own header mean. First the layouts, by kind: name, and
-- its fields with first byte and bytes. Then the transports, by number, with the codes they give
-- the ECN bits and the kinds of packets they send: a packet is of a kind if it has the layout, the
-- bits `set` and not the bits `clear` in its last byte, and a payload or none where that is said.
-- Fields: name, first byte, bytes, bit of that byte or 0, unit, description.
-- begin of declared headers (UPDATE_DOCS=1 cargo test -p incast-protocols --test all headers::)
local layouts = {
    [1] = { "Segment", { { "seq", 0, 4 }, { "ack", 4, 4 }, { "window", 8, 2 }, { "nibble", 10, 1 }, { "flags", 11, 1 }, } },
    [2] = { "Data", { { "seq", 0, 4 }, { "offset", 4, 4 }, { "tag", 8, 3 }, { "flags", 11, 1 }, } },
    [3] = { "Grant", { { "seq", 0, 4 }, { "request", 4, 4 }, { "tag", 8, 3 }, { "flags", 11, 1 }, } },
    [4] = { "Ack", { { "seq", 0, 4 }, { "cumulative", 4, 4 }, { "number", 8, 3 }, { "flags", 11, 1 }, } },
    [5] = { "Nack", { { "seq", 0, 4 }, { "cumulative", 4, 4 }, { "number", 8, 3 }, { "flags", 11, 1 }, } },
    [6] = { "Pull", { { "cumulative", 0, 4 }, { "number", 4, 4 }, { "spare", 8, 3 }, { "flags", 11, 1 }, } },
    [7] = { "Announce", { { "packets", 0, 4 }, { "bytes_low", 4, 4 }, { "bytes_high", 8, 3 }, { "flags", 11, 1 }, } },
    [8] = { "Token", { { "seq", 0, 4 }, { "remaining", 4, 4 }, { "number", 8, 3 }, { "flags", 11, 1 }, } },
    [9] = { "Finish", { { "packets", 0, 4 }, { "spare", 4, 4 }, { "spare_high", 8, 3 }, { "flags", 11, 1 }, } },
    [10] = { "Credit", { { "number", 0, 4 }, { "stamp", 4, 4 }, { "spare", 8, 3 }, { "flags", 11, 1 }, } },
    [11] = { "Credited", { { "seq", 0, 4 }, { "stamp", 4, 4 }, { "number", 8, 3 }, { "flags", 11, 1 }, } },
    [12] = { "Request", { { "packets", 0, 4 }, { "stamp", 4, 4 }, { "segment", 8, 3 }, { "flags", 11, 1 }, } },
    [13] = { "Resend", { { "first", 0, 4 }, { "packets", 4, 4 }, { "class", 8, 3 }, { "flags", 11, 1 }, } },
    [14] = { "Busy", { { "first", 0, 4 }, { "spare", 4, 4 }, { "spare_high", 8, 3 }, { "flags", 11, 1 }, } },
    [15] = { "Unknown", { { "spare_low", 0, 4 }, { "spare", 4, 4 }, { "spare_high", 8, 3 }, { "flags", 11, 1 }, } },
    [17] = { "Probe", { { "packets", 0, 4 }, { "sent", 4, 4 }, { "spare", 8, 3 }, { "flags", 11, 1 }, } },
    [18] = { "Match", { { "epoch", 0, 4 }, { "remaining", 4, 4 }, { "channels", 8, 1 }, { "prompt", 9, 1 }, { "round", 10, 1 }, { "flags", 11, 1 }, } },
}
local transports = {
    [1] = { name = "dctcp", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged (the last one of several), modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "marked", 11, 1, 2, "", "The data packet was marked: congestion was experienced (RFC 3168's ECE)" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
        { name = "SprayedData", text = "One packet of a flow, or its header after a switch has cut the payload off",
            kind = 2, set = 0, clear = 4, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
            { "asks", 11, 1, 8, "", "It is to be answered at once" },
        } },
        { name = "SprayedAck", text = "Answers a packet; the extension says which ones have arrived",
            kind = 4, set = 0, clear = 1, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is answered" },
            { "cumulative", 4, 4, 0, "packets", "All packets below have arrived" },
            { "marked", 11, 1, 2, "", "The packet was marked" },
            { "again", 11, 1, 16, "", "The packet was a retransmission" },
        } },
        { name = "SprayedComplete", text = "Answers a packet of a flow of which everything has arrived",
            kind = 4, set = 1, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is answered" },
            { "next", 4, 4, 0, "packets", "The packet behind it" },
            { "marked", 11, 1, 2, "", "The packet was marked" },
            { "again", 11, 1, 16, "", "The packet was a retransmission" },
        } },
    } },
    [2] = { name = "trd", views = {
        { name = "Data", text = "One packet of a flow",
            kind = 2, set = 0, clear = 16, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "granted_packets", 8, 3, 0, "packets", "Packets of the flow that need a grant, 2^24 - 1 if they are more; 0 where nothing depends on it" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
            { "unscheduled", 11, 1, 2, "", "Sent without a grant, in the burst at the flow's start" },
        } },
        { name = "Grant", text = "Lets packets of a flow go",
            kind = 3, set = 0, clear = 0, fields = {
            { "acked", 0, 4, 0, "packets", "The packet that it acknowledges; of a grant that no packet caused, the lowest one missing" },
            { "request", 4, 4, 0, "packets", "The packet that is requested, if a bit says that there is one" },
            { "first", 11, 1, 8, "", "`request` is to be sent before other packets" },
            { "if_idle", 11, 1, 2, "", "The grant counts only if nothing of the flow waits at the sender" },
        } },
        { name = "Finish", text = "Every packet of the flow has arrived",
            kind = 9, set = 0, clear = 0, fields = {
        } },
    } },
    [3] = { name = "phost", views = {
        { name = "FreeData", text = "One packet of a flow, sent with one of the free tokens that it has from the start",
            kind = 2, set = 2, clear = 16, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow, and its token's" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "packets", 8, 3, 0, "packets", "Packets of the flow; 0 if they do not fit" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
        } },
        { name = "TokenData", text = "One packet of a flow, sent with a token of the destination",
            kind = 2, set = 16, clear = 2, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "token", 8, 3, 0, "tokens", "The number of the token it used, modulo 2^24" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
        } },
        { name = "Announce", text = "Announces a flow (RTS)",
            kind = 7, set = 0, clear = 32, fields = {
            { "packets", 0, 4, 0, "packets", "Packets of the flow" },
            { "bytes_low", 4, 4, 0, "bytes", "Bytes of the flow, the lower 32 bits" },
            { "bytes_high", 8, 3, 0, "2^32 bytes", "Bytes of the flow, the next 24 bits" },
        } },
        { name = "OwnAnnounce", text = "Announces a flow whose number of free tokens is its own (RTS)",
            kind = 7, set = 32, clear = 0, fields = {
            { "packets", 0, 4, 0, "packets", "Packets of the flow" },
            { "bytes", 4, 4, 0, "bytes", "Bytes of the flow, modulo 2^32" },
            { "free", 8, 3, 0, "tokens", "Free tokens of the flow" },
        } },
        { name = "Token", text = "The right to send one packet",
            kind = 8, set = 0, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet to send" },
            { "remaining", 4, 4, 0, "packets", "Packets that the destination still misses, by which sources choose among flows" },
            { "number", 8, 3, 0, "tokens", "The token's number in the flow, modulo 2^24" },
        } },
        { name = "Finish", text = "Every packet of the flow has arrived",
            kind = 9, set = 0, clear = 0, fields = {
        } },
    } },
    [4] = { name = "ndp", views = {
        { name = "Data", text = "One packet of a flow, or its header after a switch has cut the payload off",
            kind = 2, set = 0, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
            { "unscheduled", 11, 1, 2, "", "It is of the first window, which needs no pull" },
        } },
        { name = "Ack", text = "A packet has arrived with its payload",
            kind = 4, set = 0, clear = 1, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that arrived" },
            { "cumulative", 4, 4, 0, "packets", "All packets below have arrived" },
            { "pull", 8, 3, 0, "pulls", "The flow's last pull so far, modulo 2^24" },
            { "pulls", 11, 1, 4, "", "It is itself a pull: the pacer was free" },
        } },
        { name = "Complete", text = "A packet has arrived, and with it the whole flow",
            kind = 4, set = 1, clear = 4, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that arrived" },
            { "next", 4, 4, 0, "packets", "The packet behind it" },
        } },
        { name = "Nack", text = "A packet has arrived without its payload, which is to be sent again when a pull allows",
            kind = 5, set = 0, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet whose payload is missing" },
            { "cumulative", 4, 4, 0, "packets", "All packets below have arrived" },
            { "pull", 8, 3, 0, "pulls", "The flow's last pull so far, modulo 2^24" },
            { "pulls", 11, 1, 4, "", "It is itself a pull: the pacer was free" },
        } },
        { name = "Pull", text = "One more packet may be sent",
            kind = 6, set = 0, clear = 0, fields = {
            { "cumulative", 0, 4, 0, "packets", "All packets below have arrived" },
            { "number", 4, 4, 0, "pulls", "The pull's number in the flow: so many packets may have been sent behind the first window" },
        } },
    } },
    [7] = { name = "homa", views = {
        { name = "Data", text = "One packet of a message",
            kind = 2, set = 0, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the message" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the message, modulo 2^32" },
            { "packets", 8, 3, 0, "packets", "Packets of the message; 16777215 if there are so many or more" },
            { "last", 11, 1, 1, "", "It is the message's last packet" },
            { "unscheduled", 11, 1, 2, "", "Sent blindly, without a grant, for the first time" },
            { "own_burst", 11, 1, 64, "", "Sent blindly, of a message whose first burst has a length of its own, not RTTbytes" },
            { "burst_end", 11, 1, 32, "", "The last packet of such a burst" },
        } },
        { name = "Grant", text = "Packets below a number may be sent (Homa §3.3)",
            kind = 3, set = 0, clear = 0, fields = {
            { "granted", 0, 4, 0, "packets", "Packets of the message below this one may be sent" },
            { "class", 8, 3, 0, "class", "Service class to send them in (Homa §3.4)" },
        } },
        { name = "Resend", text = "Asks for packets that should have arrived (Homa §3.7)",
            kind = 13, set = 0, clear = 0, fields = {
            { "first", 0, 4, 0, "packets", "The first packet that is missing" },
            { "packets", 4, 4, 0, "packets", "How many are, in a row" },
            { "class", 8, 3, 0, "class", "Service class to send them in" },
        } },
        { name = "Busy", text = "The source will send what was requested, but has messages with fewer bytes left (Homa §3.7)",
            kind = 14, set = 0, clear = 0, fields = {
            { "first", 0, 4, 0, "packets", "The first packet that was requested" },
        } },
        { name = "Unknown", text = "The source does not know the message",
            kind = 15, set = 0, clear = 0, fields = {
        } },
        { name = "Finish", text = "Every packet of the message has arrived",
            kind = 9, set = 0, clear = 0, fields = {
        } },
    } },
    [8] = { name = "aeolus", views = {
        { name = "Data", text = "One packet of a message",
            kind = 2, set = 0, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the message" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the message, modulo 2^32" },
            { "packets", 8, 3, 0, "packets", "Packets of the message; 16777215 if there are so many or more" },
            { "last", 11, 1, 1, "", "It is the message's last packet" },
            { "unscheduled", 11, 1, 2, "", "Sent blindly, without a grant, for the first time" },
            { "own_burst", 11, 1, 64, "", "Sent blindly, of a message whose first burst has a length of its own, not RTTbytes" },
            { "burst_end", 11, 1, 32, "", "The last packet of such a burst" },
        } },
        { name = "Grant", text = "Packets below a number may be sent (Homa §3.3)",
            kind = 3, set = 0, clear = 0, fields = {
            { "granted", 0, 4, 0, "packets", "Packets of the message below this one may be sent" },
            { "lost", 4, 4, 0, "packets", "The packet that is to be sent again, if `again`" },
            { "class", 8, 3, 0, "class", "Service class to send them in (Homa §3.4)" },
            { "again", 11, 1, 8, "", "`lost` is to be sent again, before others" },
        } },
        { name = "Resend", text = "Asks for packets that should have arrived (Homa §3.7)",
            kind = 13, set = 0, clear = 0, fields = {
            { "first", 0, 4, 0, "packets", "The first packet that is missing" },
            { "packets", 4, 4, 0, "packets", "How many are, in a row" },
            { "class", 8, 3, 0, "class", "Service class to send them in" },
        } },
        { name = "Busy", text = "The source will send what was requested, but has messages with fewer bytes left (Homa §3.7)",
            kind = 14, set = 0, clear = 0, fields = {
            { "first", 0, 4, 0, "packets", "The first packet that was requested" },
        } },
        { name = "Unknown", text = "The source does not know the message",
            kind = 15, set = 0, clear = 0, fields = {
        } },
        { name = "Finish", text = "Every packet of the message has arrived",
            kind = 9, set = 0, clear = 0, fields = {
        } },
        { name = "Probe", text = "Comes behind a flow's unscheduled packets and says how many they are",
            kind = 17, set = 0, clear = 0, fields = {
            { "packets", 0, 4, 0, "packets", "Packets of the flow" },
            { "sent", 4, 4, 0, "packets", "Unscheduled packets sent: the flow's packets below this one" },
        } },
        { name = "Ack", text = "Acknowledges an unscheduled packet",
            kind = 4, set = 2, clear = 1, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is acknowledged" },
            { "cumulative", 4, 4, 0, "packets", "All packets below have arrived" },
        } },
        { name = "ProbeAck", text = "Acknowledges a probe",
            kind = 4, set = 1, clear = 2, fields = {
            { "sent", 0, 4, 0, "packets", "Unscheduled packets sent, as the probe said" },
            { "cumulative", 4, 4, 0, "packets", "All packets below have arrived" },
        } },
    } },
    [9] = { name = "expresspass", views = {
        { name = "Request", text = "Asks for credits, or for no more of them",
            kind = 12, set = 0, clear = 0, fields = {
            { "packets", 0, 4, 0, "packets", "Packets that credits are needed for. With `stop`, those for which credits are on their way; 0: all were sent, and what is missing is lost" },
            { "sent", 4, 4, 0, "ns", "When it was sent" },
            { "segment", 8, 3, 0, "bytes", "Payload of each packet but the last, if the destination keeps packets that come out of order; else 0" },
            { "stop", 11, 1, 1, "", "No more credits are wanted" },
        } },
        { name = "Credit", text = "Lets one packet go; ports limit the rate of credits",
            kind = 10, set = 0, clear = 0, fields = {
            { "number", 0, 4, 0, "credits", "The credit's number in the flow" },
            { "sent", 4, 4, 0, "ns", "When it was sent" },
        } },
        { name = "Data", text = "The packet that a credit let go",
            kind = 11, set = 0, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "credit_sent", 4, 4, 0, "ns", "When its credit was sent" },
            { "credit", 8, 3, 0, "credits", "The number of its credit, modulo 2^24" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
        } },
        { name = "Missing", text = "Asks for packets that are missing",
            kind = 5, set = 0, clear = 0, fields = {
            { "end", 0, 4, 0, "packets", "The packet behind the missing range; 0 if all from `first` on are missing, since none behind it is kept" },
            { "first", 4, 4, 0, "packets", "The first packet of the range. All packets below the first range have arrived" },
        } },
        { name = "Finish", text = "Every packet of the flow has arrived",
            kind = 9, set = 0, clear = 0, fields = {
        } },
        { name = "Unscheduled", text = "A packet that was sent before the first credit",
            kind = 2, set = 2, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "packets", 8, 3, 0, "packets", "Packets of the flow, modulo 2^24" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
        } },
        { name = "Probe", text = "Comes behind a flow's unscheduled packets and says how many they are",
            kind = 17, set = 0, clear = 0, fields = {
            { "packets", 0, 4, 0, "packets", "Packets of the flow" },
            { "sent", 4, 4, 0, "packets", "Unscheduled packets sent: the flow's packets below this one" },
        } },
        { name = "Ack", text = "Acknowledges an unscheduled packet",
            kind = 4, set = 2, clear = 1, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is acknowledged" },
            { "cumulative", 4, 4, 0, "packets", "All packets below have arrived" },
        } },
        { name = "ProbeAck", text = "Acknowledges a probe",
            kind = 4, set = 1, clear = 2, fields = {
            { "sent", 0, 4, 0, "packets", "Unscheduled packets sent, as the probe said" },
            { "cumulative", 4, 4, 0, "packets", "All packets below have arrived" },
        } },
    } },
    [10] = { name = "ccrp", views = {
        { name = "Request", text = "Asks for credits, or for no more of them",
            kind = 12, set = 0, clear = 0, fields = {
            { "packets", 0, 4, 0, "packets", "Packets that credits are needed for. With `stop`, those for which credits are on their way; 0: all were sent, and what is missing is lost" },
            { "sent", 4, 4, 0, "ns", "When it was sent" },
            { "stop", 11, 1, 1, "", "No more credits are wanted" },
        } },
        { name = "Credit", text = "Lets one packet go; ports limit the rate of credits",
            kind = 10, set = 0, clear = 0, fields = {
            { "number", 0, 4, 0, "credits", "The credit's number in the flow" },
            { "sent", 4, 4, 0, "ns", "When it was sent" },
        } },
        { name = "Data", text = "The packet that a credit let go",
            kind = 11, set = 0, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "credit_sent", 4, 4, 0, "ns", "When its credit was sent" },
            { "credit", 8, 3, 0, "credits", "The number of its credit, modulo 2^24" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
        } },
        { name = "Missing", text = "Asks for packets that are missing",
            kind = 5, set = 0, clear = 0, fields = {
            { "first", 4, 4, 0, "packets", "The first packet of the range. All packets below the first range have arrived" },
        } },
        { name = "Finish", text = "Every packet of the flow has arrived",
            kind = 9, set = 0, clear = 0, fields = {
        } },
    } },
    [11] = { name = "dcqcn", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged (the last one of several), modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "marked", 11, 1, 2, "", "The data packet was marked: congestion was experienced (RFC 3168's ECE)" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
        { name = "GoBack", text = "Asks the source to go back: what follows the number is not kept (go-back-N)",
            kind = 5, set = 1, clear = 0, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that came out of order, modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: from there on all is to be sent again" },
            { "marked", 11, 1, 2, "", "The data packet was marked" },
        } },
        { name = "Cnp", text = "Tells the source that marked packets of the flow arrive",
            kind = 1, set = 0, clear = 25, payload = false, fields = {
        } },
    } },
    [12] = { name = "timely", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged (the last one of several), modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
        { name = "GoBack", text = "Asks the source to go back: what follows the number is not kept (go-back-N)",
            kind = 5, set = 1, clear = 0, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that came out of order, modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: from there on all is to be sent again" },
        } },
    } },
    [13] = { name = "cubic", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged (the last one of several), modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
        { name = "Open", text = "A request of the source's congestion control, sent before data or beside it",
            kind = 1, set = 8, clear = 1, payload = false, fields = {
        } },
        { name = "OpenAck", text = "The destination's reply to [`Open`]",
            kind = 1, set = 9, clear = 0, payload = false, fields = {
        } },
    } },
    [14] = { name = "xcp", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged (the last one of several), modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
    } },
    [15] = { name = "rcp", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged (the last one of several), modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
        { name = "Open", text = "A request of the source's congestion control, sent before data or beside it",
            kind = 1, set = 8, clear = 1, payload = false, fields = {
            { "sequence", 0, 4, 0, "bytes", "The next byte that the source will send for the first time, modulo 2^32" },
        } },
        { name = "OpenAck", text = "The destination's reply to [`Open`]",
            kind = 1, set = 9, clear = 0, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The `sequence` of the request" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32" },
        } },
        { name = "Close", text = "The source sends no more: it knows that every byte has arrived. It gets no reply",
            kind = 1, set = 16, clear = 9, payload = false, fields = {
            { "sequence", 0, 4, 0, "bytes", "The byte behind the flow's last one, modulo 2^32" },
        } },
    } },
    [17] = { name = "mlcp", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "level", 10, 1, 0, "level", "The highest level of load on the path so far, 0 to 15" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged, modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "level", 10, 1, 0, "level", "The level that the data packet brought, 0 to 15" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
    } },
    [19] = { name = "hpcc", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged (the last one of several), modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
        { name = "GoBack", text = "Asks the source to go back: what follows the number is not kept (go-back-N)",
            kind = 5, set = 1, clear = 0, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that came out of order, modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: from there on all is to be sent again" },
        } },
        { name = "SprayedData", text = "One packet of a flow, or its header after a switch has cut the payload off",
            kind = 2, set = 0, clear = 4, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
            { "asks", 11, 1, 8, "", "It is to be answered at once" },
        } },
        { name = "SprayedAck", text = "Answers a packet; the extension says which ones have arrived",
            kind = 4, set = 0, clear = 1, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is answered" },
            { "cumulative", 4, 4, 0, "packets", "All packets below have arrived" },
            { "again", 11, 1, 16, "", "The packet was a retransmission" },
        } },
        { name = "SprayedComplete", text = "Answers a packet of a flow of which everything has arrived",
            kind = 4, set = 1, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is answered" },
            { "next", 4, 4, 0, "packets", "The packet behind it" },
            { "again", 11, 1, 16, "", "The packet was a retransmission" },
        } },
    } },
    [20] = { name = "hpcc_plus", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged (the last one of several), modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
        { name = "GoBack", text = "Asks the source to go back: what follows the number is not kept (go-back-N)",
            kind = 5, set = 1, clear = 0, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that came out of order, modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: from there on all is to be sent again" },
        } },
    } },
    [21] = { name = "fasttune", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged (the last one of several), modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
        { name = "GoBack", text = "Asks the source to go back: what follows the number is not kept (go-back-N)",
            kind = 5, set = 1, clear = 0, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that came out of order, modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: from there on all is to be sent again" },
        } },
        { name = "SwitchAck", text = "A switch's ACK of a data packet that passed it. It acknowledges no bytes",
            kind = 1, set = 0, clear = 255, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet, modulo 2^32" },
        } },
    } },
    [22] = { name = "uec", views = {
        { name = "Data", text = "One packet of a flow, or its header after a switch has cut the payload off",
            kind = 2, set = 0, clear = 4, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "target", 8, 3, 0, "256 bytes", "The number of the credit that is asked for, modulo 2^24" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
            { "asks", 11, 1, 8, "", "It is to be answered at once" },
            { "early", 11, 1, 32, "", "Its payload was cut off before the last switch" },
        } },
        { name = "Probe", text = "Asks for an ACK, without a payload",
            kind = 2, set = 4, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is taken for lost" },
            { "target", 8, 3, 0, "256 bytes", "The number of the credit that is asked for, modulo 2^24" },
        } },
        { name = "Ack", text = "Answers a packet; the extension says which ones have arrived",
            kind = 4, set = 0, clear = 1, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is answered" },
            { "cumulative", 4, 4, 0, "packets", "All packets below have arrived" },
            { "marked", 11, 1, 2, "", "The packet was marked" },
            { "again", 11, 1, 16, "", "The packet was a retransmission" },
            { "probe", 11, 1, 4, "", "It answers a probe" },
        } },
        { name = "Complete", text = "Answers a packet of a flow of which everything has arrived",
            kind = 4, set = 1, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is answered" },
            { "next", 4, 4, 0, "packets", "The packet behind it" },
            { "marked", 11, 1, 2, "", "The packet was marked" },
            { "again", 11, 1, 16, "", "The packet was a retransmission" },
        } },
        { name = "Nack", text = "A packet has arrived without its payload, which is to be sent again",
            kind = 5, set = 0, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet whose payload is missing" },
            { "cumulative", 4, 4, 0, "packets", "All packets below have arrived" },
            { "marked", 11, 1, 2, "", "The packet was marked before" },
            { "last_hop", 11, 1, 32, "", "It was cut off at the last switch" },
        } },
        { name = "Pull", text = "Credit",
            kind = 6, set = 0, clear = 0, fields = {
            { "number", 4, 4, 0, "256 bytes", "Its number: what has been given in all, modulo 2^32" },
            { "slow", 11, 1, 2, "", "It is more than was asked for" },
        } },
    } },
    [23] = { name = "none", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged (the last one of several), modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
    } },
    [24] = { name = "swift", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged (the last one of several), modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
        { name = "SprayedData", text = "One packet of a flow, or its header after a switch has cut the payload off",
            kind = 2, set = 0, clear = 4, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
            { "asks", 11, 1, 8, "", "It is to be answered at once" },
        } },
        { name = "SprayedAck", text = "Answers a packet; the extension says which ones have arrived",
            kind = 4, set = 0, clear = 1, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is answered" },
            { "cumulative", 4, 4, 0, "packets", "All packets below have arrived" },
            { "again", 11, 1, 16, "", "The packet was a retransmission" },
        } },
        { name = "SprayedComplete", text = "Answers a packet of a flow of which everything has arrived",
            kind = 4, set = 1, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is answered" },
            { "next", 4, 4, 0, "packets", "The packet behind it" },
            { "again", 11, 1, 16, "", "The packet was a retransmission" },
        } },
    } },
    [25] = { name = "powertcp", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged (the last one of several), modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
        { name = "GoBack", text = "Asks the source to go back: what follows the number is not kept (go-back-N)",
            kind = 5, set = 1, clear = 0, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that came out of order, modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: from there on all is to be sent again" },
        } },
    } },
    [26] = { name = "theta_powertcp", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged (the last one of several), modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
        { name = "GoBack", text = "Asks the source to go back: what follows the number is not kept (go-back-N)",
            kind = 5, set = 1, clear = 0, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that came out of order, modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: from there on all is to be sent again" },
        } },
    } },
    [27] = { name = "pfabric", views = {
        { name = "Data", text = "One packet of a flow",
            kind = 2, set = 0, clear = 4, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "remaining", 8, 3, 0, "packets", "Packets of the flow that are not known to have arrived, when it was sent; 2^24 - 1 if more" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
        } },
        { name = "Probe", text = "Asks for an ACK, without a payload, after several timeouts",
            kind = 2, set = 4, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The lowest packet that is not known to have arrived" },
            { "remaining", 8, 3, 0, "packets", "As in data" },
        } },
        { name = "Ack", text = "Answers a packet",
            kind = 4, set = 0, clear = 1, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is answered" },
            { "cumulative", 4, 4, 0, "packets", "All packets below have arrived" },
            { "probe", 11, 1, 4, "", "It answers a probe, and `packet` says nothing" },
        } },
        { name = "Complete", text = "Answers any packet of a flow of which everything has arrived",
            kind = 4, set = 1, clear = 0, fields = {
        } },
    } },
    [28] = { name = "sird", views = {
        { name = "Unscheduled", text = "One packet of a message, sent without a credit of the destination",
            kind = 2, set = 2, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the message" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the message, modulo 2^32" },
            { "lengths", 8, 3, 0, "packets", "Packets of the message times 4096, and how many of them are unscheduled" },
            { "last", 11, 1, 1, "", "It is the message's last packet" },
            { "congested", 11, 1, 16, "", "Its source is congested: it holds unused credit of several destinations (csn)" },
        } },
        { name = "Scheduled", text = "One packet of a message, sent with a credit",
            kind = 2, set = 0, clear = 2, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the message" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the message, modulo 2^32" },
            { "last", 11, 1, 1, "", "It is the message's last packet" },
            { "congested", 11, 1, 16, "", "Its source is congested: it holds unused credit of several destinations (csn)" },
        } },
        { name = "Request", text = "Announces a message",
            kind = 7, set = 0, clear = 0, fields = {
            { "packets", 0, 4, 0, "packets", "Packets of the message" },
            { "bytes_low", 4, 4, 0, "bytes", "Bytes of the message, the lower 32 bits" },
            { "bytes_high", 8, 3, 0, "2^32 bytes", "Bytes of the message, the next 24 bits" },
        } },
        { name = "Credit", text = "The right to send one packet to this destination",
            kind = 10, set = 0, clear = 0, fields = {
            { "number", 0, 4, 0, "packets", "Packets of the message that have been credited, this one included" },
            { "worth", 4, 4, 0, "bytes", "What it is worth, as links charge it" },
        } },
        { name = "Resend", text = "The same, for a packet that is missing",
            kind = 13, set = 0, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet" },
            { "worth", 8, 3, 0, "bytes", "What it is worth, as links charge it" },
        } },
        { name = "Finish", text = "Every packet of the message has arrived",
            kind = 9, set = 0, clear = 0, fields = {
        } },
    } },
    [29] = { name = "bolt", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "bits", 10, 1, 0, "bits", "1: the source has heard nothing yet; 2: one of its last window; 4: asks for a packet more; 8: a switch was congested; 16: raises the window in any case" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged, modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "bits", 10, 1, 0, "bits", "The bits that the data packet brought" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
        { name = "GoBack", text = "Asks the source to go back: what follows the number is not kept (go-back-N)",
            kind = 5, set = 1, clear = 0, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that came out of order, modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: from there on all is to be sent again" },
        } },
        { name = "Notice", text = "A switch tells the source of a data packet that it found a queue (SRC)",
            kind = 10, set = 0, clear = 255, payload = false, fields = {
            { "drain", 0, 4, 0, "ns", "How long the link needs for what waited" },
            { "about", 4, 4, 0, "bytes", "The first byte of the data packet, modulo 2^32" },
            { "rate", 8, 3, 0, "100 Mb/s", "The rate of the link" },
        } },
    } },
    [30] = { name = "dcpim", views = {
        { name = "Unscheduled", text = "One packet of a short flow, sent without a token",
            kind = 2, set = 2, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
        } },
        { name = "Scheduled", text = "One packet, sent with a token",
            kind = 2, set = 0, clear = 2, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "token", 8, 3, 0, "tokens", "The number of the token, modulo 2^24" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
        } },
        { name = "Announce", text = "Announces a flow (RTS)",
            kind = 7, set = 0, clear = 0, fields = {
            { "packets", 0, 4, 0, "packets", "Packets of the flow" },
            { "bytes_low", 4, 4, 0, "bytes", "Bytes of the flow, the lower 32 bits" },
            { "bytes_high", 8, 3, 0, "2^32 bytes", "Bytes of the flow, the next 24 bits" },
        } },
        { name = "Request", text = "A destination asks a source for channels in an epoch's data phase, for its flow with the fewest packets left",
            kind = 18, set = 1, clear = 14, fields = {
            { "epoch", 0, 4, 0, "epochs", "The epoch, modulo 2^32" },
            { "remaining", 4, 4, 0, "packets", "What the flow has left" },
            { "channels", 8, 1, 0, "channels", "Channels" },
            { "prompt", 9, 1, 0, "channels", "Of these, how many may be used at once" },
            { "round", 10, 1, 0, "rounds", "The round of the matching, from 1" },
        } },
        { name = "Grant", text = "A source offers channels that a destination has asked for",
            kind = 18, set = 2, clear = 13, fields = {
            { "epoch", 0, 4, 0, "epochs", "The epoch, modulo 2^32" },
            { "remaining", 4, 4, 0, "packets", "What the flow has left" },
            { "channels", 8, 1, 0, "channels", "Channels" },
            { "prompt", 9, 1, 0, "channels", "Of these, how many may be used at once" },
            { "round", 10, 1, 0, "rounds", "The round of the matching, from 1" },
        } },
        { name = "Accept", text = "A destination takes channels that a source has offered",
            kind = 18, set = 4, clear = 11, fields = {
            { "epoch", 0, 4, 0, "epochs", "The epoch, modulo 2^32" },
            { "channels", 8, 1, 0, "channels", "Channels" },
            { "prompt", 9, 1, 0, "channels", "Of these, how many may be used at once" },
            { "round", 10, 1, 0, "rounds", "The round of the matching, from 1" },
        } },
        { name = "Return", text = "A source takes channels back that it does not have (GRANTSR)",
            kind = 18, set = 8, clear = 7, fields = {
            { "epoch", 0, 4, 0, "epochs", "The epoch, modulo 2^32" },
            { "channels", 8, 1, 0, "channels", "Channels" },
        } },
        { name = "Token", text = "The right to send one packet",
            kind = 8, set = 0, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet" },
            { "turn", 4, 4, 0, "codes", "The epoch, modulo 2^24, times 256, and the priority among the source's tokens, 1 being the highest" },
            { "token", 8, 3, 0, "tokens", "The token's number, modulo 2^24" },
        } },
        { name = "Finish", text = "Every packet of the flow has arrived",
            kind = 9, set = 0, clear = 0, fields = {
        } },
    } },
    [31] = { name = "eqds", views = {
        { name = "Data", text = "One packet of a flow, or its header after a switch has cut the payload off",
            kind = 2, set = 0, clear = 4, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "target", 8, 3, 0, "256 bytes", "The number of the credit that is asked for, modulo 2^24" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
            { "asks", 11, 1, 8, "", "It is to be answered at once" },
            { "early", 11, 1, 32, "", "Its payload was cut off before the last switch" },
        } },
        { name = "Probe", text = "Asks for an ACK, without a payload",
            kind = 2, set = 4, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is taken for lost" },
            { "target", 8, 3, 0, "256 bytes", "The number of the credit that is asked for, modulo 2^24" },
        } },
        { name = "Ack", text = "Answers a packet; the extension says which ones have arrived",
            kind = 4, set = 0, clear = 1, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is answered" },
            { "cumulative", 4, 4, 0, "packets", "All packets below have arrived" },
            { "again", 11, 1, 16, "", "The packet was a retransmission" },
            { "probe", 11, 1, 4, "", "It answers a probe" },
        } },
        { name = "Complete", text = "Answers a packet of a flow of which everything has arrived",
            kind = 4, set = 1, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet that is answered" },
            { "next", 4, 4, 0, "packets", "The packet behind it" },
            { "again", 11, 1, 16, "", "The packet was a retransmission" },
        } },
        { name = "Nack", text = "A packet has arrived without its payload, which is to be sent again",
            kind = 5, set = 0, clear = 0, fields = {
            { "packet", 0, 4, 0, "packets", "The packet whose payload is missing" },
            { "cumulative", 4, 4, 0, "packets", "All packets below have arrived" },
        } },
        { name = "Pull", text = "Credit",
            kind = 6, set = 0, clear = 0, fields = {
            { "number", 4, 4, 0, "256 bytes", "Its number: what has been given in all, modulo 2^32" },
            { "slow", 11, 1, 2, "", "It is more than was asked for" },
        } },
    } },
    [133] = { name = "amrt", views = {
        { name = "Data", text = "One packet of a flow",
            kind = 2, set = 0, clear = 0, coded = true, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "grant_or_rest", 8, 3, 0, "packets", "The number of the grant that let it go, if `numbered`; otherwise how many packets of the first burst follow it" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
            { "unscheduled", 11, 1, 2, "", "Sent without a grant, in the burst at the flow's start" },
            { "numbered", 11, 1, 16, "", "`grant_or_rest` is the number of a grant" },
        } },
        { name = "Grant", text = "Lets packets of a flow go",
            kind = 3, set = 0, clear = 0, coded = true, fields = {
            { "acked", 0, 4, 0, "packets", "The packet that it acknowledges; of a grant that no packet caused, the lowest one missing" },
            { "request", 4, 4, 0, "packets", "The packet that is requested, if a bit says that there is one" },
            { "number", 8, 3, 0, "grants", "The grant's number, if `numbered`" },
            { "first", 11, 1, 8, "", "`request` is to be sent before other packets" },
            { "last_resort", 11, 1, 1, "", "`request` is to be sent if nothing else is left to send" },
            { "if_idle", 11, 1, 2, "", "The grant counts only if nothing of the flow waits at the sender" },
            { "numbered", 11, 1, 16, "", "`number` is valid" },
        } },
        { name = "Finish", text = "Every packet of the flow has arrived",
            kind = 9, set = 0, clear = 0, fields = {
        } },
    }, codes = {
        [2] = { "saturated", "some port had no room for one packet more: one packet" },
        [3] = { "room", "every port had room for one packet more: two packets" },
    } },
    [134] = { name = "ren", views = {
        { name = "Data", text = "One packet of a flow",
            kind = 2, set = 0, clear = 0, coded = true, fields = {
            { "packet", 0, 4, 0, "packets", "The packet's number in the flow" },
            { "offset", 4, 4, 0, "bytes", "The offset of its first byte in the flow, modulo 2^32" },
            { "last", 11, 1, 1, "", "It is the flow's last packet" },
            { "unscheduled", 11, 1, 2, "", "Sent without a grant, in the burst at the flow's start" },
        } },
        { name = "Grant", text = "Lets packets of a flow go",
            kind = 3, set = 0, clear = 0, coded = true, fields = {
            { "acked", 0, 4, 0, "packets", "The packet that it acknowledges; of a grant that no packet caused, the lowest one missing" },
            { "request", 4, 4, 0, "packets", "The packet that is requested, if a bit says that there is one" },
            { "first", 11, 1, 8, "", "`request` is to be sent before other packets" },
            { "if_idle", 11, 1, 2, "", "The grant counts only if nothing of the flow waits at the sender" },
        } },
        { name = "Finish", text = "Every packet of the flow has arrived",
            kind = 9, set = 0, clear = 0, fields = {
        } },
    }, codes = {
        [0] = { "under", "room for more: two packets" },
        [1] = { "full", "no room: one packet" },
        [2] = { "over", "a queue: no packet" },
    } },
    [144] = { name = "vcp", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, coded = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged, modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "load", 10, 1, 0, "code", "The code that the data packet brought: 1 low, 2 high, 3 overload" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
    }, codes = {
        [1] = { "low", "load below 80 %" },
        [2] = { "high", "load from 80 % on" },
        [3] = { "overload", "load from 100 % on" },
    } },
    [146] = { name = "decn", views = {
        { name = "Data", text = "Bytes of a flow",
            kind = 1, set = 0, clear = 9, payload = true, coded = true, fields = {
            { "sequence", 0, 4, 0, "bytes", "The first byte of the payload, modulo 2^32" },
            { "difference", 10, 1, 0, "4 bits", "Four of the twelve bits of the difference between the flow's fair share and its rate; the first packet of a unit carries the highest" },
            { "last", 11, 1, 16, "", "The payload ends the flow" },
        } },
        { name = "Ack", text = "Acknowledges a data packet, and with it all bytes before a number",
            kind = 1, set = 1, clear = 8, payload = false, coded = true, fields = {
            { "acked", 0, 4, 0, "bytes", "The first byte of the data packet that is acknowledged, modulo 2^32" },
            { "cumulative", 4, 4, 0, "bytes", "The next byte expected, modulo 2^32: all before it have arrived" },
            { "difference", 10, 1, 0, "4 bits", "The four bits that the data packet brought" },
            { "complete", 11, 1, 16, "", "Every byte of the flow has arrived" },
        } },
    }, codes = {
        [0] = { "other", "not the first packet of a feedback unit" },
        [1] = { "first", "the first packet of a feedback unit" },
    } },
}
-- end of declared headers

-- Bits in the last byte of a layout, where nothing is known of the transport.
local SEGMENT, FLAGS = 1, 11

local HEADER = 20
local SACK, INT, PADDING, WINDOW, RATE, CLASS, STAMP, ARRIVALS = 1, 2, 3, 4, 5, 6, 7, 8
local extension_names = { [SACK] = "Sack", [INT] = "Int", [PADDING] = "Padding",
    [WINDOW] = "Window", [RATE] = "Rate", [CLASS] = "Class", [STAMP] = "Stamp",
    [ARRIVALS] = "Arrivals" }
-- Bytes of an entry, and of explicit feedback, which may be followed by a list.
local entries = { [SACK] = 8, [INT] = 8, [PADDING] = 2 }
local explicit = { [WINDOW] = 16, [RATE] = 12, [CLASS] = 1, [STAMP] = 8 }
-- Bytes of what has arrived.
local ARRIVALS_BYTES = 24
-- In the first byte of explicit feedback: SACK ranges follow.
local FOLLOWED = 8

local fields = {}

local function field(make, name, ...)
    local made = make("incast." .. name, ...)
    fields[name] = made
    incast.fields = { made }
    return made
end

local kind_names = {}
for kind, layout in pairs(layouts) do
    kind_names[kind] = layout[1]
end
local names_of_transports = {}
for number, transport in pairs(transports) do
    names_of_transports[number] = transport.name
end

-- Values of a certain number of bytes.
local sizes = { ProtoField.uint8, ProtoField.uint16, ProtoField.uint24, ProtoField.uint32 }

-- "GoBack" to "go_back", as filters have it.
local function filter_name(name)
    return (name:gsub("(%l)(%u)", "%1_%2"):lower())
end

-- "credit_sent" to "Credit sent".
local function label(name)
    return (name:gsub("_", " "):gsub("^%l", string.upper))
end

local function band(a, b)
    local result, place = 0, 1
    while a > 0 and b > 0 do
        if a % 2 == 1 and b % 2 == 1 then
            result = result + place
        end
        a, b, place = math.floor(a / 2), math.floor(b / 2), place * 2
    end
    return result
end

field(ProtoField.uint32, "flow", "Flow", base.DEC, nil, nil, "Both ports: high half, low half")
field(ProtoField.uint8, "transport", "Transport", base.DEC, names_of_transports)
field(ProtoField.string, "transport_name", "Transport name")
field(ProtoField.uint8, "kind", "Layout", base.DEC, kind_names, 0xf8)
field(ProtoField.string, "view", "Kind of packet", base.ASCII)
field(ProtoField.uint16, "checksum", "Checksum", base.HEX)
field(ProtoField.bool, "checksum.good", "Checksum good", base.NONE)
field(ProtoField.uint8, "flags", "Flags", base.HEX, nil, 0x07)
for _, bit in ipairs(packet_flags) do
    field(ProtoField.bool, "flags." .. bit[2]:lower(), bit[3], 8, nil, bit[1])
end
for kind, layout in pairs(layouts) do
    local prefix = layout[1]:lower() .. "."
    for _, part in ipairs(layout[2]) do
        local display = part[1] == "flags" and base.HEX or base.DEC
        field(sizes[part[3]], prefix .. part[1], label(part[1]), display)
    end
    for _, bit in ipairs(kind == SEGMENT and tcp_flags or data_flags) do
        field(ProtoField.bool, prefix .. "flags." .. bit[2]:lower(), bit[3], 8, nil, bit[1])
    end
end
for _, transport in pairs(transports) do
    if transport.codes then
        local codes = {}
        for mark, code in pairs(transport.codes) do
            codes[mark] = code[1]
        end
        field(ProtoField.uint8, transport.name .. ".code", "Code", base.DEC, codes, nil,
            "What the ECN bits say")
    end
    for _, view in ipairs(transport.views) do
        view.prefix = transport.name .. "." .. filter_name(view.name) .. "."
        -- The bits of each byte that have no name.
        view.unnamed = {}
        for byte = 1, FLAGS + 1 do
            view.unnamed[byte] = 0xff
        end
        view.unnamed[FLAGS + 1] = 0xff - view.set
        for _, part in ipairs(view.fields) do
            local name, first, bytes, bit, unit, text = table.unpack(part)
            local shown = label(name) .. (unit ~= "" and " (" .. unit .. ")" or "")
            if bit == 0 then
                field(sizes[bytes], view.prefix .. name, shown, base.DEC, nil, nil, text)
                for byte = first + 1, first + bytes do
                    view.unnamed[byte] = 0
                end
            else
                field(ProtoField.bool, view.prefix .. name, shown, 8, nil, bit, text)
                view.unnamed[first + 1] = view.unnamed[first + 1] - bit
            end
        end
    end
end
field(ProtoField.uint8, "extension.kind", "Kind", base.DEC, extension_names, 0xf0)
field(ProtoField.uint8, "extension.count", "Entries", base.DEC, nil, 0x0f)
field(ProtoField.uint8, "extension.reserved", "Reserved", base.HEX)
field(ProtoField.bool, "extension.followed", "SACK ranges follow", 8, nil, FOLLOWED)
field(ProtoField.uint24, "explicit.rtt", "Round-trip time (units of 64 ns)", base.DEC)
field(ProtoField.uint32, "explicit.spacing", "Spacing of packets (units of 64 ps)", base.DEC)
field(ProtoField.int32, "explicit.feedback", "Change of the rate (units of 16 B/s)", base.DEC)
field(ProtoField.int32, "explicit.reverse_feedback", "The same on its way back", base.DEC)
field(ProtoField.uint32, "explicit.forward", "Rate (units of 64 B/s)", base.DEC)
field(ProtoField.uint32, "explicit.reverse", "Rate on its way back (units of 64 B/s)", base.DEC)
field(ProtoField.uint8, "explicit.class", "Class of the round-trip time", base.DEC, nil, 0x07)
field(ProtoField.uint64, "explicit.sent", "Sent (ps)", base.DEC)
field(ProtoField.uint32, "sack.from", "From", base.DEC)
field(ProtoField.uint32, "sack.to", "To (not included)", base.DEC)
field(ProtoField.uint8, "int.rate_code", "Rate code", base.DEC)
field(ProtoField.uint32, "int.timestamp", "Timestamp (ns)", base.DEC)
field(ProtoField.uint32, "int.sent", "Sent (units of 128 B)", base.DEC)
field(ProtoField.uint16, "int.queued", "Queued (units of 80 B)", base.DEC)
field(ProtoField.uint32, "arrivals.base", "First packet", base.DEC)
field(ProtoField.uint64, "arrivals.bits", "Arrived, first packet lowest", base.HEX)
field(ProtoField.uint64, "arrivals.received", "Bytes arrived", base.DEC)
field(ProtoField.uint16, "arrivals.beyond", "Packets beyond the lowest missing", base.DEC)
field(ProtoField.uint32, "payload", "Payload bytes (zeros)", base.DEC)

local bad_checksum = ProtoExpert.new("incast.checksum.bad", "Wrong transport checksum",
    expert.group.CHECKSUM, expert.severity.ERROR)
local unknown_kind = ProtoExpert.new("incast.kind.unknown", "Unknown header kind",
    expert.group.PROTOCOL, expert.severity.WARN)
local bad_extension = ProtoExpert.new("incast.extension.bad", "Malformed extension",
    expert.group.MALFORMED, expert.severity.ERROR)
local no_view = ProtoExpert.new("incast.view.unknown",
    "The transport does not send such packets", expert.group.PROTOCOL, expert.severity.WARN)
local unnamed = ProtoExpert.new("incast.view.unnamed",
    "Bits are set that mean nothing in this kind of packet", expert.group.PROTOCOL,
    expert.severity.WARN)
local too_short = ProtoExpert.new("incast.short", "Shorter than its headers",
    expert.group.MALFORMED, expert.severity.ERROR)
incast.experts = { bad_checksum, unknown_kind, bad_extension, no_view, unnamed, too_short }

-- The DSCP's third bit says whether an extension follows.
local dscp = Field.new("ip.dsfield.dscp")
local ecn = Field.new("ip.dsfield.ecn")
local EXTENDED = 4

local transport_names = {}

function incast.prefs_changed()
    transport_names = {}
    for number, name in incast.prefs.transports:gmatch("(%d+)%s*=%s*([^,%s]+)") do
        transport_names[tonumber(number)] = name
    end
end

-- The Internet checksum of a range; 0 where a checksum inside is right.
local function internet_checksum(range)
    local sum, odd = 0, range:len() % 2
    for at = 0, range:len() - 2, 2 do
        sum = sum + range(at, 2):uint()
    end
    if odd == 1 then
        sum = sum + range(range:len() - 1, 1):uint() * 256
    end
    while sum > 0xffff do
        sum = sum % 0x10000 + math.floor(sum / 0x10000)
    end
    return 0xffff - sum
end

-- Adds a byte of flags with its bits below; returns the names of the bits that are set.
local function add_flags(tree, name, range, bits)
    local value, set = range:uint(), {}
    local node = tree:add(fields[name], range)
    for _, bit in ipairs(bits) do
        node:add(fields[name .. "." .. bit[2]:lower()], range)
        if math.floor(value / bit[1]) % 2 == 1 then
            set[#set + 1] = bit[2]
        end
    end
    if #set > 0 then
        node:append_text(" (" .. table.concat(set, ", ") .. ")")
    end
    return set
end

-- The value of the innermost IPv4 header's field.
local function innermost(extractor)
    local found = { extractor() }
    return found[#found] and found[#found].value
end

-- Adds the twelve bytes of a layout, where nothing more is known of them; returns their summary.
local function add_layout(node, kind, range)
    local layout = layouts[kind]
    local prefix, summary = layout[1]:lower() .. ".", {}
    node:set_text(layout[1])
    for _, part in ipairs(layout[2]) do
        local name, first, bytes = table.unpack(part)
        if name ~= "flags" then
            node:add(fields[prefix .. name], range(first, bytes))
            if not name:match("^spare") then
                summary[#summary + 1] = name .. "=" .. range(first, bytes):uint()
            end
        else
            local bits = kind == SEGMENT and tcp_flags or data_flags
            local set = add_flags(node, prefix .. name, range(first, bytes), bits)
            if #set > 0 then
                summary[#summary + 1] = "[" .. table.concat(set, ",") .. "]"
            end
        end
    end
    return layout[1], table.concat(summary, " ")
end

-- The kind of packet among those that a transport sends; `payload` may be unknown.
local function view_of(transport, kind, flags, payload)
    for _, view in ipairs(transport.views) do
        if view.kind == kind and band(flags, view.set) == view.set
            and band(flags, view.clear) == 0
            and (view.payload == nil or payload == nil or view.payload == payload) then
            return view
        end
    end
end

-- Adds the twelve bytes by the names that they have in a kind of packet; returns its name and a
-- summary.
local function add_view(node, transport, view, range)
    local summary, set = {}, {}
    node:set_text(view.name .. ": " .. view.text)
    for _, part in ipairs(view.fields) do
        local name, first, bytes, bit = table.unpack(part)
        local value = range(first, bytes)
        node:add(fields[view.prefix .. name], value)
        if bit == 0 then
            summary[#summary + 1] = name .. "=" .. value:uint()
        elseif band(value:uint(), bit) ~= 0 then
            set[#set + 1] = name
        end
    end
    for byte = 0, FLAGS do
        if band(range(byte, 1):uint(), view.unnamed[byte + 1]) ~= 0 then
            node:add_proto_expert_info(unnamed)
            break
        end
    end
    if #set > 0 then
        summary[#summary + 1] = "[" .. table.concat(set, ",") .. "]"
    end
    local mark = view.coded and innermost(ecn)
    if mark then
        node:add(fields[transport.name .. ".code"], range(0, 0), mark):set_generated()
        local code = transport.codes[mark]
        summary[#summary + 1] = "<" .. (code and code[1] or mark) .. ">"
    end
    return view.name, table.concat(summary, " ")
end

-- Adds the transport's own twelve bytes; returns the name of the kind of packet and a summary.
local function add_own(tree, node, buffer, payload)
    local transport = transports[buffer(4, 1):uint()]
    local kind, range = math.floor(buffer(5, 1):uint() / 8), buffer(8, 12)
    if transport then
        local view = view_of(transport, kind, range(FLAGS, 1):uint(), payload)
        if view then
            tree:add(fields["view"], buffer(5, 1), view.name):set_generated()
            return add_view(node, transport, view, range)
        end
        node:add_proto_expert_info(no_view)
    end
    return add_layout(node, kind, range)
end

local function add_sack(tree, range)
    local node = tree:add(incast, range, "Range")
    node:add(fields["sack.from"], range(0, 4))
    node:add(fields["sack.to"], range(4, 4))
    node:append_text(string.format(": %d - %d", range(0, 4):uint(), range(4, 4):uint()))
end

-- One record is 4 + 24 + 20 + 16 bits.
local function add_int(tree, range)
    local node = tree:add(incast, range, "Record")
    node:add(fields["int.rate_code"], range(0, 1), range:bitfield(0, 4))
    node:add(fields["int.timestamp"], range(0, 4), range:bitfield(4, 24))
    node:add(fields["int.sent"], range(3, 3), range:bitfield(28, 20))
    node:add(fields["int.queued"], range(6, 2))
end

-- Adds a list of entries `at` bytes into the buffer; returns its bytes, or nothing if it is
-- malformed.
local function add_list(tree, buffer, at)
    local rest = buffer:len() - at
    if rest < 2 then
        tree:add_proto_expert_info(bad_extension)
        return nil
    end
    local first = buffer(at, 1):uint()
    local kind, count = math.floor(first / 16), first % 16
    local size = entries[kind] or 8
    local bytes = 2 + size * count
    local node = tree:add(incast, buffer(at, math.min(bytes, rest)),
        "Extension: " .. (entries[kind] and extension_names[kind] or "unknown"))
    node:add(fields["extension.kind"], buffer(at, 1))
    node:add(fields["extension.count"], buffer(at, 1))
    node:add(fields["extension.reserved"], buffer(at + 1, 1))
    if not entries[kind] or bytes > rest then
        node:add_proto_expert_info(bad_extension)
        return nil
    end
    for i = 0, count - 1 do
        local entry = buffer(at + 2 + size * i, size)
        if kind == SACK then
            add_sack(node, entry)
        elseif kind == INT then
            add_int(node, entry)
        end
    end
    return bytes
end

-- Adds explicit feedback and the ranges behind it; returns their bytes, or nothing.
local function add_explicit(tree, buffer, kind)
    local bytes = explicit[kind]
    local low = buffer(HEADER, 1):uint() % 16
    local long = kind == WINDOW and low % 2 == 1
    if long then
        bytes = bytes + 4
    end
    if buffer:len() < HEADER + bytes then
        tree:add_proto_expert_info(bad_extension)
        return nil
    end
    local range = buffer(HEADER, bytes)
    local node = tree:add(incast, range, "Extension: " .. extension_names[kind])
    node:add(fields["extension.kind"], range(0, 1))
    node:add(fields["extension.followed"], range(0, 1))
    if kind == CLASS then
        node:add(fields["explicit.class"], range(0, 1))
    elseif kind == STAMP then
        node:add(fields["explicit.sent"], range(1, 7))
    else
        node:add(fields["explicit.rtt"], range(1, 3))
        local window = kind == WINDOW
        local names = window and { "spacing", "feedback", "reverse_feedback" }
            or { "forward", "reverse" }
        for i, name in ipairs(names) do
            node:add(fields["explicit." .. name], range(4 * i, 4))
        end
    end
    local most = kind == CLASS and 7 or long and 1 or 0
    if low % FOLLOWED > most or long and range(16, 4):uint() ~= 0 then
        node:add_proto_expert_info(bad_extension)
        return nil
    end
    if low < FOLLOWED then
        return bytes
    end
    local ranges = add_list(tree, buffer, HEADER + bytes)
    return ranges and bytes + ranges
end

-- Adds what has arrived; returns its bytes, or nothing.
local function add_arrivals(tree, buffer)
    if buffer:len() < HEADER + ARRIVALS_BYTES then
        tree:add_proto_expert_info(bad_extension)
        return nil
    end
    local range = buffer(HEADER, ARRIVALS_BYTES)
    local node = tree:add(incast, range, "Extension: " .. extension_names[ARRIVALS])
    node:add(fields["extension.kind"], range(0, 1))
    node:add(fields["extension.reserved"], range(1, 1))
    node:add(fields["arrivals.base"], range(2, 4))
    node:add(fields["arrivals.bits"], range(6, 8))
    node:add(fields["arrivals.received"], range(14, 6))
    node:add(fields["arrivals.beyond"], range(20, 2))
    if range(0, 2):uint() ~= ARRIVALS * 4096 or range(22, 2):uint() ~= 0 then
        node:add_proto_expert_info(bad_extension)
        return nil
    end
    return ARRIVALS_BYTES
end

-- Adds the extension; returns its bytes, or nothing if it is malformed.
local function add_extension(tree, buffer)
    if buffer:len() <= HEADER then
        tree:add_proto_expert_info(bad_extension)
        return nil
    end
    local kind = math.floor(buffer(HEADER, 1):uint() / 16)
    if explicit[kind] then
        return add_explicit(tree, buffer, kind)
    end
    if kind == ARRIVALS then
        return add_arrivals(tree, buffer)
    end
    return add_list(tree, buffer, HEADER)
end

local data = Dissector.get("data")

function incast.dissector(buffer, pinfo, root)
    pinfo.cols.protocol = "Incast"
    local tree = root:add(incast, buffer())
    if buffer:len() < HEADER then
        tree:add_proto_expert_info(too_short)
        return buffer:len()
    end
    local flow, transport = buffer(0, 4), buffer(4, 1)
    local kind = math.floor(buffer(5, 1):uint() / 8)
    tree:add(fields["flow"], flow)
    tree:add(fields["transport"], transport)
    local known = transports[transport:uint()]
    local transport_name = transport_names[transport:uint()] or known and known.name
    if transport_name then
        pinfo.cols.protocol = transport_name
        tree:add(fields["transport_name"], transport, transport_name):set_generated()
    end
    local kind_item = tree:add(fields["kind"], buffer(5, 1))
    local set = add_flags(tree, "flags", buffer(5, 1), packet_flags)
    local checksum_item = tree:add(fields["checksum"], buffer(6, 2))
    local own = layouts[kind] and tree:add(incast, buffer(8, 12), "")

    local extension, payload = 0, nil
    if math.floor((innermost(dscp) or 0) / EXTENDED) % 2 == 1 then
        extension = add_extension(tree, buffer)
    end
    if extension then
        if incast.prefs.check_checksum then
            local good = internet_checksum(buffer(0, HEADER + extension)) == 0
            tree:add(fields["checksum.good"], buffer(6, 2), good):set_generated()
            if not good then
                checksum_item:add_proto_expert_info(bad_checksum)
            end
        end
        payload = buffer:reported_len() - HEADER - extension
        tree:add(fields["payload"], buffer(HEADER + extension), payload):set_generated()
        tree:set_len(HEADER + extension)
        if buffer:len() > HEADER + extension then
            data:call(buffer(HEADER + extension):tvb(), pinfo, root)
            pinfo.cols.protocol = transport_name or "Incast"
        end
    end

    local summary = "kind " .. kind
    if own then
        -- A packet that was trimmed is still of the kind that it was.
        local carries = payload and (payload > 0 or band(buffer(5, 1):uint(), TRIMMED) ~= 0)
        local name, text = add_own(tree, own, buffer, carries)
        summary = name .. " flow=" .. flow:uint() .. (text ~= "" and " " .. text or "")
    else
        kind_item:add_proto_expert_info(unknown_kind)
    end
    if payload then
        summary = summary .. " len=" .. payload
    end
    if #set > 0 then
        summary = summary .. " {" .. table.concat(set, ",") .. "}"
    end
    pinfo.cols.info = summary
    tree:append_text(": " .. summary)
    return buffer:len()
end

DissectorTable.get("ip.proto"):add(253, incast)

-- Hellos (IPv4 protocol 254): a line of words, by which nodes meet (crates/dataplane/src/hello.rs).
local hello = Proto("incast_hello", "Incast Hello")
local words = {
    { "version", "Version of the program" },
    { "scenario", "Hash of the scenario, hexadecimal" },
    { "name", "Name of the node" },
    { "port", "Its port" },
    { "process", "Number of its process, hexadecimal" },
    { "heard", "Process that it has heard on this link, hexadecimal; 0 for none" },
    { "known", "1 if it knows that it is heard" },
    { "asks", "A number to be answered with, hexadecimal; 0 for none" },
    { "answers", "The number that this answers, hexadecimal; 0 for none" },
    { "whole", "1 if it knows the round trips of all links" },
    { "trips", "Round trips that it knows: port:nanoseconds, hexadecimal" },
    { "longest", "Bytes of the longest hello that it has heard on this link, hexadecimal" },
    { "fill", "Makes the hello as long as the longest packets" },
}
local hello_fields = {
    sum = ProtoField.string("incast_hello.checksum", "checksum",
        base.ASCII, "Internet checksum of the text before it, hexadecimal"),
    good = ProtoField.bool("incast_hello.checksum.good", "checksum is good"),
}
for _, word in ipairs(words) do
    hello_fields[word[1]] = ProtoField.string("incast_hello." .. word[1], word[1], base.ASCII, word[2])
end
local bad_hello = ProtoExpert.new("incast_hello.bad", "No hello of this version",
    expert.group.MALFORMED, expert.severity.ERROR)
hello.fields = hello_fields
hello.experts = { bad_hello }

function hello.dissector(buffer, pinfo, root)
    pinfo.cols.protocol = "Incast hello"
    local tree = root:add(hello, buffer())
    local text, at, found = buffer():string(), 1, {}
    for word in text:gmatch("%S+") do
        local from, to = text:find(word, at, true)
        table.insert(found, { word, from, to })
        at = to + 1
    end
    -- The name of the protocol, the words and the checksum.
    if #found ~= #words + 2 or found[1][1] ~= "incast-hello" then
        tree:add_proto_expert_info(bad_hello)
        pinfo.cols.info = "no hello of this version"
        return buffer:len()
    end
    local value = {}
    for i, word in ipairs(words) do
        local own = found[i + 1]
        tree:add(hello_fields[word[1]], buffer(own[2] - 1, own[3] - own[2] + 1))
        value[word[1]] = own[1]
    end
    local last = found[#found]
    local sum = tree:add(hello_fields.sum, buffer(last[2] - 1, last[3] - last[2] + 1))
    -- The checksum is that of the text before the blank in front of it, as if followed by a zero if it is odd.
    local total = 0
    for i = 0, last[2] - 3 do
        total = total + buffer(i, 1):uint() * (i % 2 == 0 and 256 or 1)
    end
    while total > 0xffff do
        total = math.floor(total / 65536) + total % 65536
    end
    local good = tonumber(last[1], 16) == 0xffff - total
    tree:add(hello_fields.good, buffer(last[2] - 1, last[3] - last[2] + 1), good):set_generated()
    if not good then
        sum:add_proto_expert_info(bad_hello)
    end
    local says = value.heard == "0" and "hears nobody yet"
        or value.known == "1" and "is heard" or "hears its neighbour"
    pinfo.cols.info = "Hello from " .. value.name .. " port " .. value.port .. ", " .. says
    tree:append_text(": " .. value.name .. " port " .. value.port)
    return buffer:len()
end

DissectorTable.get("ip.proto"):add(254, hello)

-- On ordinary networks a packet is the contents of a UDP datagram (crates/dataplane/src/udp.rs).
local in_udp = Proto("incast_udp", "Incast in UDP")
local inner = Dissector.get("ip")
function in_udp.dissector(buffer, pinfo, root)
    inner:call(buffer, pinfo, root)
end

DissectorTable.get("udp.port"):add(49253, in_udp)
