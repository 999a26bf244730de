import BridgeRuntime
import CLinux
import Glibc
import LinuxSystem
import NowPlaying

/// The addresses at which the bridge takes connections.
@PlayerLoop final class MPDListener {
    /// Kind of a connection that was taken.
    enum Kind: Sendable {
        case network
        case local
    }

    private let loop: EventLoop
    private let log: BridgeLog
    private let take: @PlayerLoop (Int32, Kind) -> Void
    private var sources: [EventSource] = []
    private var descriptors: [Int32] = []
    /// Sockets that were made here, with their inodes.
    private var paths: [(path: String, inode: UInt64)] = []
    private var retry: EventSource?

    /// Listens at these addresses. One that is taken is logged and left out. `isUsual`: the addresses are the defaults, whose
    /// local socket may be out of reach. Throws when none works.
    init(
        _ loop: EventLoop, _ log: BridgeLog, _ addresses: [BindAddress], isUsual: Bool,
        _ take: @escaping @PlayerLoop (Int32, Kind) -> Void
    ) throws(BridgeFailure) {
        self.loop = loop
        self.log = log
        self.take = take
        var failures: [String] = []
        for address in addresses {
            do throws(SystemError) { try listen(address) } catch {
                let remedy =
                    error.code == EADDRINUSE
                    ? ": another program listens there, such as mpd; end it, or name another address as “bind” in [mpd]"
                    : ""
                failures.append("\(address.text): \(error.message)\(remedy)")
            }
        }
        guard !descriptors.isEmpty else {
            throw BridgeFailure("cannot listen at any address: " + failures.joined(separator: "; "))
        }
        for failure in failures { log.warning("cannot listen at " + failure) }
    }

    private func listen(_ address: BindAddress) throws(SystemError) {
        switch address {
        case .network(let host, let port):
            let found = try TCPSocket.listen(host: host, port: port)
            for failure in found.failures { log.info(failure.message) }
            for listener in found.listeners {
                watch(listener.descriptor, .network)
                log.info("listening at \(listener.address)")
            }
        case .local(let path):
            let descriptor = try local(path)
            watch(descriptor, .local)
            log.info("listening at \(path)")
        }
    }

    /// A listening socket at a path. A file that is there stays, unless it is a socket of ours that nobody answers at.
    private func local(_ path: String) throws(SystemError) -> Int32 {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        mkdir(folder, 0o755)
        var status = stat()
        if lstat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
                throw SystemError("listen at \(path)", code: EADDRINUSE)
            }
            do throws(SystemError) {
                close(try UnixSocket.connect(path))
                throw SystemError("listen at \(path)", code: EADDRINUSE)
            } catch {
                guard error.code == ECONNREFUSED else { throw error }
                unlink(path)
            }
        }
        let descriptor = try UnixSocket.listen(path)
        // Everybody may connect: rights are judged by the peer's user.
        chmod(path, 0o666)
        if lstat(path, &status) == 0 { paths.append((path, UInt64(status.st_ino))) }
        return descriptor
    }

    private func watch(_ descriptor: Int32, _ kind: Kind) {
        descriptors.append(descriptor)
        let source = loop.watch(descriptor, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in accept(descriptor, kind) }
        if let source { sources.append(source) }
    }

    private func accept(_ listener: Int32, _ kind: Kind) {
        for _ in 0..<64 {
            do throws(SystemError) {
                let descriptor = try UnixSocket.accept(listener)
                if case .network = kind { TCPSocket.sendAtOnce(descriptor) }
                take(descriptor, kind)
            } catch {
                switch error.code {
                case EAGAIN, EINTR, ECONNABORTED: return
                case _: return pause(error)
                }
            }
        }
    }

    /// Out of descriptors or memory: goes on a second later.
    private func pause(_ error: SystemError) {
        log.warning(error.message)
        for source in sources { source.setEnabled(false) }
        retry = loop.deadline(EventLoop.now.advanced(bySeconds: 1)) { [unowned self] in
            for source in sources { source.setEnabled(true) }
        }
    }

    /// Listens no longer, and removes its own socket files.
    func end() {
        retry = nil
        for source in sources { source.release() }
        sources = []
        for descriptor in descriptors { close(descriptor) }
        descriptors = []
        for (path, inode) in paths {
            var status = stat()
            if lstat(path, &status) == 0, UInt64(status.st_ino) == inode { unlink(path) }
        }
        paths = []
    }
}
