import LinuxSystem
import MPDProtocol

/// Bytes that clients make the bridge hold for longer than a turn of the loop: command lists, collected answers, messages.
@PlayerLoop final class HeldMemory {
    /// Maximum bytes of one source.
    nonisolated static let mostOfSource = 16 << 20
    /// Maximum bytes of all sources but the bridge's own user.
    nonisolated static let mostOfOthers = 32 << 20
    /// Maximum bytes of the bridge's own user.
    nonisolated static let mostOfOwn = 48 << 20

    private var held: [PeerSource: Int] = [:]

    /// No held bytes.
    init() {}

    /// A share of a source without bytes.
    func share(of source: PeerSource) -> HeldShare { HeldShare(self, source) }

    /// Adds to the bytes of a source; false: there is no room for them.
    fileprivate func add(_ bytes: Int, to source: PeerSource) -> Bool {
        let new = held[source, default: 0] + bytes
        if bytes > 0 {
            guard new <= source.mostHeld else { return false }
            let others = held.reduce(bytes) { $1.key.isOwn ? $0 : $0 + $1.value }
            guard source.isOwn || others <= Self.mostOfOthers else { return false }
        }
        held[source] = new == 0 ? nil : new
        return true
    }
}

extension PeerSource {
    /// Maximum bytes that the clients of this source make the bridge hold.
    var mostHeld: Int { isOwn ? HeldMemory.mostOfOwn : HeldMemory.mostOfSource }
}

/// Bytes that one client makes the bridge hold. They are free again when the share is released.
@PlayerLoop final class HeldShare {
    private let memory: HeldMemory
    private let source: PeerSource
    private var bytes = 0

    fileprivate init(_ memory: HeldMemory, _ source: PeerSource) {
        self.memory = memory
        self.source = source
    }

    isolated deinit { _ = memory.add(-bytes, to: source) }

    /// Sets the number of bytes; false: there is no room for them, and the number stays.
    func hold(_ new: Int) -> Bool {
        guard new != bytes else { return true }
        guard memory.add(new - bytes, to: source) else { return false }
        bytes = new
        return true
    }

    /// Adds bytes; false: there is no room for them.
    func add(_ more: Int) -> Bool { hold(bytes + more) }

    /// The failure of a command for which there is no room.
    nonisolated static let tooMuch = MPDFailure(
        .system, "the answer needs too much memory: ask for less at a time, or wait for other clients of yours")
}
