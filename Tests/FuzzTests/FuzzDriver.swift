import Glibc
import Testing

/// Runs one target with libFuzzer: `FUZZ_TARGET` is its name, `FUZZ_ARGUMENTS` are libFuzzer's arguments. Only in a build
/// of `make fuzz`, which has libFuzzer in it.
@Suite struct FuzzDriver {
    private typealias Callback = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private typealias Driver =
        @convention(c) (UnsafeMutablePointer<CInt>, UnsafeMutablePointer<Arguments?>, Callback) -> CInt

    /// Target of the callback, which can't capture.
    nonisolated(unsafe) private static var target: FuzzTarget?

    @Test(.enabled(if: getenv("FUZZ_TARGET") != nil))
    func run() throws {
        let name = String(cString: try #require(getenv("FUZZ_TARGET")))
        guard let target = FuzzTarget.named(name) else {
            Issue.record("no such target: \(name)")
            return
        }
        Self.target = target
        let symbol = try #require(dlsym(nil, "LLVMFuzzerRunDriver"), "this build has no libFuzzer in it; use make fuzz")
        let driver = unsafeBitCast(symbol, to: Driver.self)
        // To merge, it starts itself again.
        let program = getenv("FUZZ_PROGRAM").map { String(cString: $0) } ?? "fuzz"
        let words =
            [program] + String(cString: getenv("FUZZ_ARGUMENTS") ?? strdup("")).split(separator: " ").map(String.init)
        var count = CInt(words.count)
        let arguments = Arguments.allocate(capacity: words.count + 1)
        for (index, word) in words.enumerated() { arguments[index] = strdup(word) }
        arguments[words.count] = nil
        var pointer: Arguments? = arguments
        exit(
            driver(&count, &pointer) { data, size in
                FuzzDriver.target?.run(Array(UnsafeBufferPointer(start: data, count: size)))
                return 0
            })
    }

    /// Writes the seeds of the targets into the folder `FUZZ_SEEDS`.
    @Test(.enabled(if: getenv("FUZZ_SEEDS") != nil))
    func seeds() throws {
        let folder = String(cString: try #require(getenv("FUZZ_SEEDS")))
        for target in FuzzTarget.all {
            mkdir("\(folder)/\(target.name)", 0o755)
            for (index, seed) in target.seeds().enumerated() {
                let file = try #require(fopen("\(folder)/\(target.name)/seed-\(index)", "w"))
                fwrite(seed, 1, seed.count, file)
                fclose(file)
            }
        }
    }
}
