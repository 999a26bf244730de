import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// State files that something other than the daemon wrote to.
    @Suite(.timeLimit(.minutes(20))) struct DamageCampaignTests {
        init() { LoopThread.start() }

        /// Damages a file in some way; how, in words.
        private func damage(_ folder: TemporaryFolder, _ name: String, _ numbers: inout SeededRandom) -> String {
            let whole = folder.read(name)
            var bytes = whole
            let place = Int.random(in: 0..<max(1, bytes.count), using: &numbers)
            let how: String
            switch Int.random(in: 0..<5, using: &numbers) {
            case 0:
                bytes = Array(bytes.prefix(place))
                how = "cut at \(place) of \(whole.count)"
            case 1:
                for offset in place..<min(bytes.count, place + 64) {
                    bytes[offset] = UInt8.random(in: 0...255, using: &numbers)
                }
                how = "64 bytes of noise at \(place) of \(whole.count)"
            case 2:
                bytes = (0..<place).map { _ in UInt8.random(in: 0...255, using: &numbers) }
                how = "\(place) bytes of noise"
            case 3:
                bytes += (0...place).map { _ in UInt8.random(in: 0...255, using: &numbers) }
                how = "\(place) bytes of noise behind it"
            default:
                if !bytes.isEmpty { bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers) }
                how = "a bit turned over at \(place) of \(whole.count)"
            }
            _ = folder.write(bytes, name)
            return "\(name): \(how)"
        }

        @Test("damaged state: the daemon starts, keeps what is good, and puts aside what is not")
        func damaged() async throws {
            var numbers = SeededRandom(seed: 31)
            var (whole, aside) = (0, 0)
            let times = Campaign.times(3, long: 200)
            for _ in 0..<times {
                let folder = TemporaryFolder()
                let first = await RealDaemon.start(nil, output: "null", in: folder)
                let client = first.connect()
                var ids: [JSONValue] = []
                for _ in 0..<10 {
                    ids += client.call("queue.add", ["items": first.silences(600)])?["ids"]?.arrayValue ?? []
                }
                client.call("changePlaybackPosition", ["position": 12])
                #expect(first.stop() == 0)
                var what = damage(folder, "state/" + ["queue", "place"].randomElement(using: &numbers)!, &numbers)
                if Bool.random(using: &numbers) { what += ", " + damage(folder, "state/next-item", &numbers) }
                let second = await RealDaemon.start(nil, output: "null", in: folder, isLogged: true)
                let next = second.connect()
                let left = next.call("queue.list")?["items"]?.arrayValue?.compactMap { $0["id"] } ?? []
                #expect(left.elementsEqual(ids.prefix(left.count)), "\(what)")
                let isAside = ["queue", "place"].contains { access(folder.path("state/\($0).broken"), F_OK) == 0 }
                let reports = next.call("diagnostics.get")?["state"]?["reports"]?.arrayValue ?? []
                // A file that is cut between two changes has the state before the second one.
                #expect(left.count == ids.count || !reports.isEmpty || what.contains("queue: cut"), "\(what)")
                #expect(
                    isAside == !reports.isEmpty || becomes { access(folder.path("state/queue.broken"), F_OK) == 0 },
                    "\(what)")
                whole += left.count == ids.count ? 1 : 0
                aside += reports.isEmpty ? 0 : 1
                // It goes on as if nothing had been.
                let added = next.call("queue.add", ["items": second.silences(600), "play": true])?["ids"]?.arrayValue
                #expect(added?.count == 1 && !left.contains(added![0]), "\(what)")
                #expect(second.stop() == 0)
            }
            Campaign.report(
                "state files damaged (cut, noise, single bits)", times,
                "started each time; \(whole) times the whole queue, else the part before the damage; reported and put aside "
                    + "\(aside) times")
        }
    }
}
