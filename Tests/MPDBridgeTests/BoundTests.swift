import BridgeRuntime
import LinuxSystem
import MPDProtocol
import NowPlaying
import TestSupport
import Testing

@testable import MPDBridge

/// The pure parts of the bounds: turns, places, memory and sources.
@Suite struct BoundTests {
    @Test("sources take turns, and every second turn is the owner's") func turns() {
        var queue = FairQueue<Int>()
        for number in 0..<100 { queue.put(number, of: .user(1)) }
        for number in 100..<103 { queue.put(number, of: .address("a")) }
        for number in 200..<203 { queue.put(number, of: .own) }
        let first = (0..<9).compactMap { _ in queue.take()?.element }
        #expect(first == [200, 0, 201, 100, 202, 1, 101, 2, 102])
        let rest = (0..<97).compactMap { _ in queue.take()?.element }
        #expect(rest == Array(3..<100))
        #expect(queue.isEmpty && queue.take() == nil)
    }

    @Test("random puts and takes keep the order of each source, lose nothing and starve nobody") func randomTurns() {
        var random = SeededRandom(seed: 44)
        for _ in 0..<200 {
            var queue = FairQueue<Int>()
            var waiting: [PeerSource: [Int]] = [:]
            var passed: [PeerSource: Int] = [:]
            let sources: [PeerSource] = [.own, .user(1), .user(2), .address("x"), .unknown]
            for number in 0..<300 {
                if Bool.random(using: &random) {
                    let source = sources.randomElement(using: &random) ?? .own
                    queue.put(number, of: source)
                    waiting[source, default: []].append(number)
                    continue
                }
                let blocked = sources.randomElement(using: &random) ?? .own
                let mayTake = { (source: PeerSource) in source != blocked }
                let taken = queue.take(mayTake)
                let ready = waiting.filter { !$0.value.isEmpty && mayTake($0.key) }
                #expect((taken == nil) == ready.isEmpty)
                guard let taken else { continue }
                #expect(waiting[taken.source]?.removeFirst() == taken.element)
                for source in ready.keys { passed[source, default: 0] += 1 }
                passed[taken.source] = 0
                // A blocked source can lose its turns; a ready one waits for all others, twice with the owner's turns.
                #expect(passed.values.allSatisfy { $0 <= 3 * sources.count })
            }
        }
    }

    @Test("a user, an address and all of them together leave places for the owner") func places() {
        var places = ClientPlaces()
        func fill(_ source: PeerSource) -> Int {
            var count = 0
            while count < 2000, places.enter(source) { count += 1 }
            return count
        }
        #expect(fill(.user(1)) == ClientPlaces.mostOfUser)
        #expect(fill(.address("a")) == ClientPlaces.mostOfAddress)
        let others = (0..<20).reduce(0) { $0 + fill(.address("b\($1)")) }
        #expect(others == ClientPlaces.mostOfNetwork - ClientPlaces.mostOfAddress)
        let users = (2..<20).reduce(0) { $0 + fill(.user(UInt32($1))) }
        #expect(users + others + ClientPlaces.mostOfUser + ClientPlaces.mostOfAddress == ClientPlaces.mostOfOthers)
        #expect(fill(.own) == ClientPlaces.most - ClientPlaces.mostOfOthers)
        places.leave(.user(1))
        #expect(fill(.user(1)) == 1)
    }

    @Test("memory has a bound for a source and for all, and is free when its share is released") func memory() async {
        await LoopThread.run {
            let memory = HeldMemory()
            @PlayerLoop func fill(_ source: PeerSource) -> (HeldShare, Int) {
                let share = memory.share(of: source)
                var bytes = 0
                while share.add(1 << 20) { bytes += 1 << 20 }
                return (share, bytes)
            }
            var shares = [fill(.user(1))]
            #expect(shares[0].1 == HeldMemory.mostOfSource)
            shares += (2..<9).map { fill(.user($0)) }
            #expect(shares.reduce(0) { $0 + $1.1 } == HeldMemory.mostOfOthers)
            #expect(fill(.own).1 == HeldMemory.mostOfOwn)
            shares = []
            #expect(fill(.user(9)).1 == HeldMemory.mostOfSource)
        }
    }

    @Test("long commands have places for a source and for all; the others wait for their turn") func long() async {
        let (started, after) = await LoopThread.run {
            let long = LongCommands()
            var places: [LongPlace] = []
            for source in [PeerSource.user(1), .user(2), .user(3), .user(4), .own] {
                for _ in 0..<100 { long.enter(source) { places.append($0) } }
            }
            let started = places.count
            places = []
            return (
                started,
                { @PlayerLoop in
                    _ = long; return places.count
                }
            )
        }
        #expect(started == LongCommands.mostOfOthers + LongCommands.mostOfOwn)
        // Each place that becomes free is taken in a later turn.
        await LoopThread.turns(4)
        #expect(await LoopThread.run { after() } == LongCommands.mostOfOthers + LongCommands.mostOfOwn)
    }

    @Test(
        "an address of version 6 counts as its network",
        arguments: [
            ("192.168.1.7", "192.168.1.7"), ("::ffff:10.0.0.1", "10.0.0.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("fe80::1%eth0", "fe80::/64"), ("::1", "::/64"), ("x", "x"),
        ])
    func networks(_ address: String, _ network: String) { #expect(PeerSource.network(address) == network) }

    @Test(
        "root has rights of its own only where the daemon is root's",
        arguments: [
            (UInt32(0), UInt32(0), true), (0, 1000, false), (1000, 1000, true), (1001, 1000, true), (1001, 0, true),
        ])
    func root(_ user: UInt32, _ owner: UInt32, _ counts: Bool) {
        #expect(PeerUser.counts(user, owner: owner) == counts)
    }

    @Test("pictures and places in results: 16 clients of a source, 48 of all; the oldest goes") func recent() {
        var recent = RecentByClient<Int>()
        func left(_ clients: Range<Int>) -> [Int] { clients.filter { recent.value(of: $0) == $0 } }
        for number in 0..<100 { recent.set(number, of: number, at: .user(1)) }
        #expect(left(0..<100) == Array(84..<100))
        for number in 100..<120 { recent.set(number, of: number, at: .user(2)) }
        #expect(left(0..<200) == Array(84..<100) + Array(104..<120))
        for number in 120..<140 { recent.set(number, of: number, at: .own) }
        #expect(left(0..<200) == Array(84..<100) + Array(104..<120) + Array(124..<140))
        recent.set(140, of: 140, at: .address("a"))
        #expect(left(0..<200).first == 85 && left(0..<200).count == 48)
        recent.set(nil, of: 140, at: .address("a"))
        #expect(left(140..<141).isEmpty)
    }

    @Test("messages: 16 channels with names of 128 bytes, 64 messages with 64 KiB") @PlayerLoop func messages() throws {
        func failure(_ call: () throws(MPDFailure) -> Void) -> String? {
            do throws(MPDFailure) { try call() } catch { return error.message }
            return nil
        }
        var board = MessageBoard()
        let long = String(repeating: "n", count: 128)
        for number in 0..<15 { try board.subscribe(1, "c\(number)") }
        #expect(failure { () throws(MPDFailure) in try board.subscribe(1, long + "n") } == "invalid channel name")
        try board.subscribe(1, long)
        #expect(failure { () throws(MPDFailure) in try board.subscribe(1, "one") } == "subscription list is full")
        for number in 0..<100 { #expect(try board.send("c1", "\(number)") == [1]) }
        // Those for which there is no room are lost, as in MPD.
        #expect(board.take(1).map(\.text) == (0..<64).map { "\($0)" })
        let text = String(repeating: "t", count: 16_000)
        for _ in 0..<10 { #expect(try board.send(long, text) == [1]) }
        #expect(board.take(1).count == 4)
        #expect(board.take(1).isEmpty)
    }

    @Test("the log has a limited number of lines, and names the number of those left out") func log() {
        var rate = LogRate()
        let start = MonotonicTime.now
        let lines = (0..<100).compactMap { rate.line("x\($0)", at: start.advanced(bySeconds: Double($0) / 10)) }
        #expect(lines == (0..<10).map { "x\($0)" })
        #expect(rate.line("y", at: start.advanced(bySeconds: 61)) == "y (90 such lines were left out before)")
        #expect(rate.line("z", at: start.advanced(bySeconds: 62)) == "z")
    }
}
