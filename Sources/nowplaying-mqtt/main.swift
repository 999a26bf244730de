import BridgeRuntime
import Glibc

// A broker that speaks only MQTT 3.1.1 does not know how long a message may be, and libmosquitto takes memory for all of it at
// once. Above this limit it gets none, and ends the connection.
var limit = rlimit(rlim_cur: 48 << 20, rlim_max: 48 << 20)
setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
exit(
    BridgeProgram.run(
        MQTTBridge.self, program: "nowplaying-mqtt",
        summary: "publishes the playback to an MQTT broker, and accepts commands from it",
        Array(CommandLine.arguments.dropFirst())))
