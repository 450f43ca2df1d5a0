-- Wireshark dissector for Incast's transport header (IPv4 protocol 253).
-- The layouts are those of crates/wire: header.rs, extension.rs and codec.rs.

local incast = Proto("incast", "Incast Transport")

incast.prefs.transports = Pref.string("Transport names", "",
    "Names of the transports' numbers, such as 1=ren,2=dctcp (incast list prints the numbers)")
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
local packet_flags = {
    { 1, "TRIMMED", "Payload was cut off by a switch" },
    { 2, "BOUNCED", "Sent back to its source by a switch" },
    { 4, "RETRANSMIT", "Not the first transmission of these bytes" },
}

-- Kind -> name, the bits of its flags, and the fields before them: name, bytes, description.
local kinds = {
    [1] = { "Segment", tcp_flags, { "seq", 4, "First byte of the payload" },
        { "ack", 4, "Next byte expected" }, { "window", 2, "Receive window" },
        { "nibble", 1, "Four bits of a control law" } },
    [2] = { "Data", data_flags, { "seq", 4, "Packet number" },
        { "offset", 4, "Offset of the first payload byte" }, { "tag", 3, "Echoed number" } },
    [3] = { "Grant", data_flags, { "seq", 4, "Packet answered" },
        { "request", 4, "Packet to send first" }, { "tag", 3, "Number of the grant" } },
    [4] = { "Ack", data_flags, { "seq", 4, "Packet answered" },
        { "cumulative", 4, "All packets below are present" }, { "number", 3, "Number" } },
    [5] = { "Nack", data_flags, { "seq", 4, "Packet answered" },
        { "cumulative", 4, "All packets below are present" }, { "number", 3, "Number" } },
    [6] = { "Pull", data_flags, { "cumulative", 4, "All packets below are present" },
        { "number", 4, "Pulls so far" }, { "spare", 3, "Spare" } },
    [7] = { "Announce", data_flags, { "packets", 4, "Packets of the flow" },
        { "bytes_low", 4, "Bytes of the flow, low 32 bits" },
        { "bytes_high", 3, "Bytes of the flow, high 24 bits" } },
    [8] = { "Token", data_flags, { "seq", 4, "Packet to send" },
        { "remaining", 4, "Packets still missing" }, { "number", 3, "Number of the token" } },
    [9] = { "Finish", data_flags, { "packets", 4, "Packets of the flow" },
        { "spare", 4, "Spare" }, { "spare_high", 3, "Spare" } },
    [10] = { "Credit", data_flags, { "number", 4, "Number of the credit" },
        { "stamp", 4, "Time sent" }, { "spare", 3, "Spare" } },
    [11] = { "Credited", data_flags, { "seq", 4, "Packet number" },
        { "stamp", 4, "Time the credit was sent" }, { "number", 3, "Number of the credit" } },
    [12] = { "Request", data_flags, { "packets", 4, "Packets not sent yet" },
        { "stamp", 4, "Time sent" }, { "segment", 3, "Payload of a full packet, if told" } },
    [13] = { "Resend", data_flags, { "first", 4, "First packet asked for" },
        { "packets", 4, "How many" }, { "class", 3, "Service class to send them in" } },
    [14] = { "Busy", data_flags, { "first", 4, "First packet that was asked for" },
        { "spare", 4, "Spare" }, { "spare_high", 3, "Spare" } },
    [15] = { "Unknown", data_flags, { "spare_low", 4, "Spare" }, { "spare", 4, "Spare" },
        { "spare_high", 3, "Spare" } },
    [17] = { "Probe", data_flags, { "packets", 4, "Packets of the flow" },
        { "sent", 4, "Unscheduled packets sent" }, { "spare", 3, "Spare" } },
}

local HEADER = 20
local SACK, INT, PADDING, WINDOW, RATE, CLASS, STAMP = 1, 2, 3, 4, 5, 6, 7
local extension_names = { [SACK] = "Sack", [INT] = "Int", [PADDING] = "Padding",
    [WINDOW] = "Window", [RATE] = "Rate", [CLASS] = "Class", [STAMP] = "Stamp" }
-- Bytes of an entry, and of explicit feedback, which may be followed by a list.
local entries = { [SACK] = 8, [INT] = 8, [PADDING] = 2 }
local explicit = { [WINDOW] = 16, [RATE] = 12, [CLASS] = 1, [STAMP] = 8 }
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
for kind, layout in pairs(kinds) do
    kind_names[kind] = layout[1]
end

field(ProtoField.uint32, "flow", "Flow", base.DEC, nil, nil, "Both ports: high half, low half")
field(ProtoField.uint8, "transport", "Transport", base.DEC)
field(ProtoField.string, "transport_name", "Transport name")
field(ProtoField.uint8, "kind", "Kind", base.DEC, kind_names, 0xf8)
field(ProtoField.uint16, "checksum", "Checksum", base.HEX)
field(ProtoField.bool, "checksum.good", "Checksum good", base.NONE)
field(ProtoField.uint8, "flags", "Flags", base.HEX, nil, 0x07)
for _, bit in ipairs(packet_flags) do
    field(ProtoField.bool, "flags." .. bit[2]:lower(), bit[3], 8, nil, bit[1])
end
for _, layout in pairs(kinds) do
    local prefix = layout[1]:lower() .. "."
    local sizes = { ProtoField.uint8, ProtoField.uint16, ProtoField.uint24, ProtoField.uint32 }
    for i = 3, #layout do
        field(sizes[layout[i][2]], prefix .. layout[i][1], layout[i][3], base.DEC)
    end
    field(ProtoField.uint8, prefix .. "flags", "Flags of the header", base.HEX)
    for _, bit in ipairs(layout[2]) do
        field(ProtoField.bool, prefix .. "flags." .. bit[2]:lower(), bit[3], 8, nil, bit[1])
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
field(ProtoField.uint32, "payload", "Payload bytes (zeros)", base.DEC)

local bad_checksum = ProtoExpert.new("incast.checksum.bad", "Wrong transport checksum",
    expert.group.CHECKSUM, expert.severity.ERROR)
local unknown_kind = ProtoExpert.new("incast.kind.unknown", "Unknown header kind",
    expert.group.PROTOCOL, expert.severity.WARN)
local bad_extension = ProtoExpert.new("incast.extension.bad", "Malformed extension",
    expert.group.MALFORMED, expert.severity.ERROR)
local too_short = ProtoExpert.new("incast.short", "Shorter than its headers",
    expert.group.MALFORMED, expert.severity.ERROR)
incast.experts = { bad_checksum, unknown_kind, bad_extension, too_short }

-- The DSCP's third bit says whether an extension follows.
local dscp = Field.new("ip.dsfield.dscp")
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

-- Adds the kind's own twelve bytes; returns their summary.
local function add_own(tree, kind, range)
    local layout = kinds[kind]
    local prefix, at, summary = layout[1]:lower() .. ".", 0, {}
    local node = tree:add(incast, range, layout[1])
    for i = 3, #layout do
        local name, bytes = layout[i][1], layout[i][2]
        node:add(fields[prefix .. name], range(at, bytes))
        if not name:match("^spare") then
            summary[#summary + 1] = name .. "=" .. range(at, bytes):uint()
        end
        at = at + bytes
    end
    local set = add_flags(node, prefix .. "flags", range(at, 1), layout[2])
    if #set > 0 then
        summary[#summary + 1] = "[" .. table.concat(set, ",") .. "]"
    end
    return table.concat(summary, " ")
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
    return add_list(tree, buffer, HEADER)
end

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
    local transport_name = transport_names[transport:uint()]
    if transport_name then
        pinfo.cols.protocol = transport_name
        tree:add(fields["transport_name"], transport, transport_name):set_generated()
    end
    local kind_item = tree:add(fields["kind"], buffer(5, 1))
    local set = add_flags(tree, "flags", buffer(5, 1), packet_flags)
    local checksum_item = tree:add(fields["checksum"], buffer(6, 2))

    local summary = "kind " .. kind
    if kinds[kind] then
        summary = kinds[kind][1] .. " flow=" .. flow:uint() .. " "
            .. add_own(tree, kind, buffer(8, 12))
    else
        kind_item:add_proto_expert_info(unknown_kind)
    end

    local differentiated = { dscp() }
    local innermost = differentiated[#differentiated]
    local extension = 0
    if innermost and math.floor(innermost.value / EXTENDED) % 2 == 1 then
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
        local payload = buffer:reported_len() - HEADER - extension
        tree:add(fields["payload"], buffer(HEADER + extension), payload):set_generated()
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
