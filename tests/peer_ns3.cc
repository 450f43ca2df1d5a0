// What `tests/peer-ns3` times: hosts of each rack send to those of the next one through one spine, under DCTCP with marking
// above 65 packets and an ACK per packet. `--count=1` counts packet-hops, which takes time of its own.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>

using namespace ns3;

static uint64_t sent = 0;

static void
Sent(Ptr<const Packet>)
{
    ++sent;
}

int
main(int argc, char* argv[])
{
    uint32_t racks = 4;
    uint32_t hosts = 8;
    uint64_t bytes = 5000000;
    bool count = false;
    CommandLine cmd;
    cmd.AddValue("racks", "racks", racks);
    cmd.AddValue("hosts", "hosts per rack", hosts);
    cmd.AddValue("bytes", "bytes per flow", bytes);
    cmd.AddValue("count", "count packet-hops", count);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpDctcp"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 22));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
    Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::UseHardDrop", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(1));
    Config::SetDefault("ns3::RedQueueDisc::MinTh", DoubleValue(65));
    Config::SetDefault("ns3::RedQueueDisc::MaxTh", DoubleValue(65));
    Config::SetDefault("ns3::RedQueueDisc::MaxSize", QueueSizeValue(QueueSize("1000p")));
    Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(1500));
    Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", QueueSizeValue(QueueSize("1p")));

    NodeContainer spine(1);
    NodeContainer leaves(racks);
    NodeContainer ends(racks * hosts);
    InternetStackHelper stack;
    stack.InstallAll();

    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("40Gbps"));
    link.SetChannelAttribute("Delay", StringValue("1us"));
    TrafficControlHelper red;
    red.SetRootQueueDisc("ns3::RedQueueDisc", "LinkBandwidth", StringValue("40Gbps"), "LinkDelay", StringValue("1us"));
    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.255.252");
    std::vector<Ipv4Address> at(racks * hosts);
    for (uint32_t rack = 0; rack < racks; ++rack)
    {
        NetDeviceContainer up = link.Install(leaves.Get(rack), spine.Get(0));
        red.Install(up);
        address.Assign(up);
        address.NewNetwork();
        for (uint32_t place = 0; place < hosts; ++place)
        {
            uint32_t host = rack * hosts + place;
            NetDeviceContainer down = link.Install(ends.Get(host), leaves.Get(rack));
            red.Install(down);
            at[host] = address.Assign(down).GetAddress(0);
            address.NewNetwork();
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    for (uint32_t host = 0; host < racks * hosts; ++host)
    {
        uint32_t peer = (host + hosts) % (racks * hosts);
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
        sink.Install(ends.Get(host)).Start(Seconds(0));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(at[peer], 9));
        source.SetAttribute("MaxBytes", UintegerValue(bytes));
        source.SetAttribute("SendSize", UintegerValue(1460));
        source.Install(ends.Get(host)).Start(Seconds(0));
    }
    if (count)
    {
        Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::PointToPointNetDevice/PhyTxEnd", MakeCallback(&Sent));
    }
    Simulator::Stop(Seconds(1));
    Simulator::Run();
    uint64_t got = 0;
    for (uint32_t host = 0; host < racks * hosts; ++host)
    {
        got += DynamicCast<PacketSink>(ends.Get(host)->GetApplication(0))->GetTotalRx();
    }
    std::cout << "bytes " << got << ", packet-hops " << sent << "\n";
    Simulator::Destroy();
    return got == bytes * racks * hosts ? 0 : 1;
}
