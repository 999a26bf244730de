import BridgeRuntime
import Glibc

exit(
    BridgeProgram.run(
        MQTTBridge.self, program: "nowplaying-mqtt", summary: "tells an MQTT broker what plays, and takes its commands",
        Array(CommandLine.arguments.dropFirst())))
