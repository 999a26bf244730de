import BridgeRuntime
import Glibc

exit(
    BridgeProgram.run(
        HookBridge.self, program: "nowplaying-hooks", summary: "runs programs of yours when something happens",
        Array(CommandLine.arguments.dropFirst())))
