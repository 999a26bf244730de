import Glibc
import LinuxSystem

/// Bytes that a client has sent, and the open files that came along, until their lines are carried out.
@PlayerLoop final class LineInput {
    /// Bytes of a line, at most.
    static let maximumLineBytes = 256 << 10

    private var bytes: [UInt8] = []
    /// Number of bytes at the start that surely hold no line end.
    private var searched = 0
    /// Open files, each with the index in `bytes` at which its line begins.
    private var files: [(start: Int, descriptors: [OwnedDescriptor])] = []
    /// True if the client sends no more.
    private(set) var hasEnded = false
    /// True while lines are being carried out.
    private(set) var isBusy = false

    /// An input without bytes.
    init() {}

    /// Number of waiting bytes.
    var count: Int { bytes.count }

    /// Notes that the client sends no more.
    func end() { hasEnded = true }

    /// Drops the waiting bytes.
    func clear() {
        bytes = []
        files = []
    }

    /// Keeps bytes after those that wait.
    func keep(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

    /// Keeps the files that came with the last bytes. The kernel joins nothing to the end of a message with files, and they
    /// count at the beginning of a line alone: so their line is the last one that begins in the bytes. Others are closed.
    func keep(_ descriptors: [OwnedDescriptor]) {
        func isEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
        guard let last = bytes.lastIndex(where: { !isEnd($0) }) else { return }
        let before = bytes[min(searched, last)..<last].lastIndex(of: UInt8(ascii: "\n"))
        let start = before.map { $0 + 1 } ?? 0
        guard files.last?.start != start else { return }
        files.append((start, descriptors))
    }

    /// Hands out all waiting bytes and keeps the rest; `carryOut` returns the number of finished bytes, as this does.
    func drain(_ carryOut: (UnsafeRawBufferPointer) -> Int) -> Int {
        // Nothing that a request causes can change the bytes in the meantime.
        var taken = bytes
        bytes = []
        let used = taken.withUnsafeBytes(carryOut)
        guard used < taken.count else {
            files = []
            return used
        }
        if used > 0 {
            taken.removeFirst(used)
            files = files.compactMap { $0.start >= used ? ($0.start - used, $0.descriptors) : nil }
        }
        bytes = taken
        return used
    }

    /// Hands out the whole lines at the start of `bytes`, each without its end and with its files, while `mayStart` allows
    /// it. Returns the number of bytes of these lines. It ends before a line that is too long.
    func lines(
        in bytes: UnsafeRawBufferPointer, while mayStart: () -> Bool,
        _ carryOut: (UnsafeRawBufferPointer, [OwnedDescriptor]) -> Void
    ) -> Int {
        isBusy = true
        defer { isBusy = false }
        var used = 0
        while used < bytes.count, mayStart() {
            let from = max(used, searched)
            guard let end = memchr(bytes.baseAddress! + from, Int32(UInt8(ascii: "\n")), bytes.count - from) else {
                searched = bytes.count
                break
            }
            searched = 0
            let length = UnsafeRawPointer(end) - (bytes.baseAddress! + used)
            guard length <= Self.maximumLineBytes else { break }
            carryOut(UnsafeRawBufferPointer(rebasing: bytes[used..<used + length]), descriptors(at: used))
            used += length + 1
        }
        searched = max(0, searched - used)
        return used
    }

    /// Hands out the last line, which lacks its end and begins at the index `start` of `bytes`.
    func lastLine(
        in bytes: UnsafeRawBufferPointer, from start: Int,
        _ carryOut: (UnsafeRawBufferPointer, [OwnedDescriptor]) -> Void
    ) {
        isBusy = true
        defer { isBusy = false }
        carryOut(UnsafeRawBufferPointer(rebasing: bytes[start...]), descriptors(at: start))
    }

    private func descriptors(at start: Int) -> [OwnedDescriptor] {
        files.isEmpty ? [] : files.first { $0.start == start }?.descriptors ?? []
    }
}
