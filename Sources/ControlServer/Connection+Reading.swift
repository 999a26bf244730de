import ControlProtocol
import Glibc
import LinuxSystem

/// From bytes to lines.
extension Connection {
    /// Takes what has arrived, once, and carries out the lines in it.
    func receive() {
        let arrivals = server.arrivals
        let received = UnixSocket.receive(descriptor, into: arrivals)
        let descriptors = received.descriptors.map(OwnedDescriptor.init)
        guard received.count > 0 else {
            if received.count == -Int(EAGAIN) || received.count == -Int(EINTR) { return }
            hasEnded = true
            if received.count < 0 { stopSending() }
            return
        }
        let bytes = UnsafeRawBufferPointer(rebasing: arrivals[..<received.count])
        if input.isEmpty, descriptors.isEmpty {
            // The usual way: whole lines, carried out where they arrived.
            let used = process(bytes)
            guard !isClosed, used < bytes.count else { return }
            keep(UnsafeRawBufferPointer(rebasing: bytes[used...]))
        } else {
            keep(bytes)
            if !descriptors.isEmpty { keep(descriptors) }
        }
        if !isBlocked { process() }
        server.boundUnfinishedInput()
    }

    private func keep(_ bytes: UnsafeRawBufferPointer) {
        input.append(contentsOf: bytes)
        server.unfinishedBytes += bytes.count
    }

    /// Descriptors come with the message that begins a line, and the kernel joins nothing to the end of such a message:
    /// so their line is the last one that begins in what has arrived.
    private func keep(_ descriptors: [OwnedDescriptor]) {
        guard
            descriptors.allSatisfy({
                Int($0.number) < server.options.descriptorLimit - ControlServer.reservedDescriptors
            })
        else { return }
        func isEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
        guard let last = input.lastIndex(where: { !isEnd($0) }) else { return }
        let before = input[..<last].lastIndex(of: UInt8(ascii: "\n"))
        let start = before.map { $0 + 1 } ?? 0
        // Descriptors count at the beginning of a line alone. Others are closed.
        guard arrived.last?.start != start else { return }
        arrived.append((start, descriptors))
    }

    /// Carries out the lines that wait in `input`, as far as they may be started.
    func process() {
        guard !isProcessing, !isBlocked, !input.isEmpty else { return }
        // Taken out, so that nothing that a request causes can change it meanwhile.
        var bytes = input
        input = []
        let used = bytes.withUnsafeBytes { process($0) }
        guard !isClosed else {
            server.unfinishedBytes -= bytes.count
            return
        }
        var rest = bytes.count - used
        if hasEnded, rest > 0, !isBlocked {
            // The last line may lack its end.
            isProcessing = true
            bytes.withUnsafeBytes { carryOut(UnsafeRawBufferPointer(rebasing: $0[used...]), at: used) }
            isProcessing = false
            flush()
            rest = 0
            if isClosed {
                server.unfinishedBytes -= bytes.count
                return
            }
        }
        server.unfinishedBytes -= bytes.count - rest
        if rest == 0 {
            arrived = []
        } else {
            if used > 0 { bytes.removeFirst(used) }
            arrived = arrived.compactMap { $0.start >= used ? ($0.start - used, $0.descriptors) : nil }
            input = bytes
        }
    }

    /// Carries out lines from the start of `bytes` as far as they are whole and may be started; returns how many bytes
    /// were used.
    private func process(_ bytes: UnsafeRawBufferPointer) -> Int {
        isProcessing = true
        var used = 0
        while used < bytes.count, !isBlocked, !isClosed {
            let from = max(used, searched)
            guard let end = memchr(bytes.baseAddress! + from, Int32(UInt8(ascii: "\n")), bytes.count - from) else {
                searched = bytes.count
                break
            }
            searched = 0
            let length = UnsafeRawPointer(end) - (bytes.baseAddress! + used)
            guard length <= Self.maximumLineBytes else { break }
            carryOut(UnsafeRawBufferPointer(rebasing: bytes[used..<used + length]), at: used)
            used += length + 1
            if output.count - sent > Self.maximumUnreadBytes { flush() }
        }
        isProcessing = false
        guard !isClosed else { return used }
        if !isBlocked, bytes.count - used > Self.maximumLineBytes {
            refuseAndClose(.invalidRequest("the line has more than \(Self.maximumLineBytes) bytes"))
            return used
        }
        searched = max(0, searched - used)
        flush()
        return used
    }

    /// Carries out one line, without its end, which begins at `start` of `input`.
    private func carryOut(_ line: UnsafeRawBufferPointer, at start: Int) {
        var line = line
        if line.last == UInt8(ascii: "\r") { line = UnsafeRawBufferPointer(rebasing: line.dropLast()) }
        guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { return }
        let descriptors = arrived.isEmpty ? [] : arrived.first { $0.start == start }?.descriptors ?? []
        switch RPCLine.read(line) {
        case .single(.invalid(let id, let error)): write { $0.answer(id: id, error: error) }
        case .single(.request(let request)): self.start(request, descriptors)
        case .single(.response(let response)): answered(response)
        case .batch(let elements): self.start(elements, descriptors)
        }
    }
}
