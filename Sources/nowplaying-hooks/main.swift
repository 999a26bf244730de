import BridgeRuntime
import Glibc

exit(
    BridgeProgram.run(
        HookBridge.self, program: "nowplaying-hooks", summary: "runs programs at playback events",
        Array(CommandLine.arguments.dropFirst())))
