import BridgeRuntime
import Glibc
import MPRISBridge

exit(
    BridgeProgram.run(
        MediaPlayerBridge.self, program: "nowplaying-mpris",
        summary: "shows nowplayingd on a message bus as a media player",
        Array(CommandLine.arguments.dropFirst())))
