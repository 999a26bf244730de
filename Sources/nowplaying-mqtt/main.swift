import BridgeRuntime
import Glibc

exit(
    BridgeProgram.run(
        MQTTBridge.self, program: "nowplaying-mqtt",
        summary: "publishes the playback to an MQTT broker, and accepts commands from it",
        Array(CommandLine.arguments.dropFirst())))
