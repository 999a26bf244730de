import ControlProtocol
import Glibc
import LinuxSystem

/// From bytes to requests.
extension Connection {
    /// Takes the bytes that have arrived, once, and carries out the lines in them.
    func receive() {
        let arrivals = server.arrivals(for: credentials)
        let received = UnixSocket.receive(descriptor, into: arrivals)
        let descriptors =
            received.descriptors.isEmpty ? [] : server.files.own(received.descriptors, for: holding.account.holder)
        guard received.count > 0 else {
            if received.count == -Int(EAGAIN) || received.count == -Int(EINTR) { return }
            input.end()
            if received.count < 0 { stopSending() }
            return
        }
        let bytes = UnsafeRawBufferPointer(rebasing: arrivals[..<received.count])
        if input.count == 0, descriptors.isEmpty {
            // The usual way: whole lines, carried out where they arrived.
            let used = process(bytes)
            guard !isClosed, used < bytes.count else { return }
            keep(UnsafeRawBufferPointer(rebasing: bytes[used...]))
        } else {
            keep(bytes)
            if !descriptors.isEmpty, descriptors.allSatisfy(isBelowReserve) { input.keep(descriptors) }
        }
        if !isBlocked { process() }
        recount()
        server.boundUnfinishedInput()
    }

    private func isBelowReserve(_ descriptor: OwnedDescriptor) -> Bool {
        Int(descriptor.number) < server.options.descriptorLimit - ControlServer.reservedDescriptors
    }

    private func keep(_ bytes: UnsafeRawBufferPointer) {
        input.keep(bytes)
        server.countUnfinished(bytes.count)
    }

    /// Carries out the waiting lines, as far as they may be started.
    func process() {
        guard !input.isBusy, !isBlocked, input.count > 0 else { return }
        let finished = input.drain { bytes in
            let used = process(bytes)
            guard !isClosed else { return bytes.count }
            guard input.hasEnded, used < bytes.count, !isBlocked else { return used }
            input.lastLine(in: bytes, from: used, carryOut)
            flush()
            return bytes.count
        }
        server.countUnfinished(-finished)
    }

    /// Carries out lines from the start of `bytes` as far as they are whole and may be started; returns the number of their
    /// bytes.
    private func process(_ bytes: UnsafeRawBufferPointer) -> Int {
        let used = input.lines(in: bytes, while: { !isBlocked && !isClosed }) { line, descriptors in
            carryOut(line, descriptors)
            if output.unsentCount > Self.maximumUnreadBytes { flush() }
        }
        guard !isClosed else { return used }
        if !isBlocked, bytes.count - used > LineInput.maximumLineBytes {
            refuseAndClose(.invalidRequest("the line has more than \(LineInput.maximumLineBytes) bytes"))
            return used
        }
        flush()
        return used
    }

    /// Carries out one line, which has no line feed. `descriptors` came with it.
    private func carryOut(_ line: UnsafeRawBufferPointer, _ descriptors: [OwnedDescriptor]) {
        var line = line
        if line.last == UInt8(ascii: "\r") { line = UnsafeRawBufferPointer(rebasing: line.dropLast()) }
        guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { return }
        switch RPCLine.read(line) {
        case .single(.invalid(let id, let error)): write { $0.answer(id: id, error: error) }
        case .single(.request(let request)): start(request, descriptors, bytes: line.count)
        case .single(.response(let response)): answered(response)
        case .batch(let elements): start(elements, descriptors, bytes: line.count)
        }
    }
}
