import CLinux
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import Synchronization

/// Checks the targets of links in the library. One thread uses it.
final class LinkCheck {
    /// Folders of the library, by their configured and their real paths.
    private let inside: [FilePath]
    /// True: the disk of a target did not answer, so no more targets are checked.
    private var isLate = false
    private static let patience = 1.0

    /// A check for a library of these folders.
    init(_ roots: [RootNames.Root], _ opened: [ScanRoot?]) {
        inside = roots.map(\.path) + opened.compactMap { $0?.realPath }
    }

    /// The folder to add to the library for the target of a link; nil: the target is in the library already, or is not
    /// playable. `target`: the text of the link.
    func outside(_ target: FilePath, of link: FilePath) -> FilePath? {
        let path = (target.bytes.first == UInt8(ascii: "/") ? target : link.folder.appending(target)).collapsed
        if isInside(path) { return nil }
        guard !isLate else { return path }
        switch Self.look(link) {
        case .nothing: return nil
        case .folder(let found): return isInside(found) ? nil : found
        case .file(let found): return isInside(found) ? nil : found.folder
        case nil:
            isLate = true
            return path
        }
    }

    private func isInside(_ path: FilePath) -> Bool { inside.contains { path.below($0) != nil } }

    private enum Found { case nothing, folder(FilePath), file(FilePath) }

    private final class Answer: Sendable {
        let found = Mutex<Found?>(nil)
        /// Readable after the result is set.
        private let bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))

        deinit { close(bell) }

        func ring() {
            var one: UInt64 = 1
            _ = write(bell, &one, 8)
        }

        /// False: there is no result in time.
        func wait() -> Bool {
            let end = MonotonicTime.now.advanced(bySeconds: LinkCheck.patience)
            while case let left = end.seconds(since: .now), left > 0 {
                var polled = pollfd(fd: bell, events: Int16(POLLIN), revents: 0)
                if poll(&polled, 1, Int32(clamping: (left * 1000).rounded(.up))) > 0 { return true }
            }
            return false
        }
    }

    /// The target of a link; nil: its disk did not answer in time. A thread of its own checks it, as the target may be
    /// on any disk.
    private static func look(_ link: FilePath) -> Found? {
        let answer = Answer()
        let isStarted = DetachedThread.start("link") {
            let found = resolved(link)
            answer.found.withLock { $0 = found }
            answer.ring()
        }
        guard isStarted, answer.wait() else { return nil }
        return answer.found.withLock { $0 }
    }

    private static func resolved(_ link: FilePath) -> Found {
        var status = stat()
        guard let text = link.withCString({ realpath($0, nil) }) else { return .nothing }
        defer { free(text) }
        guard let path = FilePath(UnsafeRawBufferPointer(start: text, count: strlen(text))), stat(text, &status) == 0
        else { return .nothing }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .folder(path)
        case S_IFREG: return path.bytes.withUnsafeBytes(PlayableSuffixes.present.matches) ? .file(path) : .nothing
        default: return .nothing
        }
    }
}
