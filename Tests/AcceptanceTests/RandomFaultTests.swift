import ControlProtocol
import Glibc
import TestSupport
import Testing

/// A sound server that something happens to, one thing at a time, and is over after a while.
final class FaultyServer {
    private enum Fault: CaseIterable { case killed, hung, suspended, unloaded, moved }

    let server: SoundServer
    private static let sinks = [TestSink("dac"), TestSink("other", rate: 48000)]
    private var fault: Fault?
    private var numbers: SeededRandom
    /// Number of faults.
    private(set) var count = 0

    init(seed: Int) async {
        server = await SoundServer.pulseAudio(Self.sinks)
        numbers = SeededRandom(seed: UInt64(seed))
    }

    /// Begins a fault, or ends the one that is; which, in a word.
    func next() async -> String {
        if fault != nil {
            await end()
            return "well"
        }
        let fault = Fault.allCases.randomElement(using: &numbers)!
        self.fault = fault
        count += 1
        switch fault {
        case .killed: server.kill()
        case .hung: server.process.signal(SIGSTOP)
        case .suspended: server.control("suspend-sink", "dac", "1")
        case .unloaded:
            let modules = server.control("list", "short", "modules").split(separator: "\n")
            if let module = modules.first(where: { $0.contains("sink_name=dac ") }) {
                server.control("unload-module", String(module.prefix { $0.isNumber }))
            }
        case .moved:
            for input in server.control("list", "short", "sink-inputs").split(separator: "\n") {
                server.control("move-sink-input", String(input.prefix { $0.isNumber }), "other")
            }
        }
        return "\(fault)"
    }

    /// All is well again.
    func end() async {
        defer { fault = nil }
        switch fault {
        case .killed: await server.startPulseAudio(Self.sinks)
        case .hung: server.process.signal(SIGCONT)
        case .suspended: server.control("suspend-sink", "dac", "0")
        case .unloaded:
            _ = server.load(Self.sinks[0])
            server.control("set-default-sink", "dac")
        case .moved, nil: break
        }
    }
}

extension Acceptance {
    /// Random commands of many clients while faults happen, against a model.
    @Suite(.timeLimit(.minutes(30))) struct RandomFaultTests {
        @Test("random commands of 20 clients end where the model says, whatever happens to the sound server")
        func commands() async throws {
            LoopThread.start()
            let commands = Campaign.times(24, long: 2000)
            let faulty = await FaultyServer(seed: 7)
            let daemon = await RealDaemon.start(faulty.server)
            let random = RandomClient(daemon, RandomTests.files(daemon.folder), seed: 77, clients: 20)
            for number in 0..<commands {
                random.step()
                if number % 7 == 6 { random.note(await faulty.next()) }
            }
            await faulty.end()
            random.finish()
            #expect(random.model.complaints == [])
            Campaign.report(
                "random commands of 20 clients amid \(faulty.count) faults of the sound server", commands,
                "\(random.disagreements + random.model.complaints.count) differences between the daemon and the model")
            #expect(daemon.stop() == 0)
            faulty.server.stop()
        }
    }
}
