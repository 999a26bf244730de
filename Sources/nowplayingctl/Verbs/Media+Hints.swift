import ControlProtocol
import Glibc
import NowPlayingClient

extension Media {
    /// Hints for refused media whose reason this program can see: one line each for at most three of the local paths.
    static func hints(_ paths: [[UInt8]], daemon: DaemonIdentity?) -> [String] {
        var result: [String] = []
        for path in paths {
            guard result.count < 3, let hint = hint(path, daemon: daemon), !result.contains(hint) else { continue }
            result.append(hint)
        }
        return result
    }

    private static func hint(_ path: [UInt8], daemon: DaemonIdentity?) -> String? {
        var status = stat()
        let code = (path + [0]).withUnsafeBytes {
            stat($0.bindMemory(to: CChar.self).baseAddress!, &status) == 0 ? 0 : errno
        }
        let shown = TerminalText.safe(String(decoding: path, as: UTF8.self))
        switch code {
        case 0:
            guard let daemon, !daemon.isSelf, !daemon.mayRead(path) else { return nil }
            return status.st_mode & S_IFMT == S_IFDIR
                ? "the daemon (user \(daemon.user)) cannot read \(shown): name the files (\(shown)/*), or allow it: "
                    + "chmod o+rx, or setfacl -m u:\(daemon.user):rx"
                : nil
        case EACCES:
            return "\(shown): permission denied for this user too"
        case ENOENT, ENOTDIR:
            if ["/media/", "/mnt/", "/run/media/"].contains(where: { shown.hasPrefix($0) }) {
                return "\(shown) does not exist: is the disk or stick connected and mounted?"
            }
            return missingFolder(path).map { "the folder \($0) does not exist" }
        default:
            return "\(shown): \(SystemText.error(code))"
        }
    }

    /// The first missing folder of `path`; nil: only the file itself is missing.
    private static func missingFolder(_ path: [UInt8]) -> String? {
        var start = 1
        while let slash = path[start...].firstIndex(of: UInt8(ascii: "/")) {
            let isThere = (path[..<slash] + [0]).withUnsafeBytes {
                access($0.bindMemory(to: CChar.self).baseAddress!, F_OK) == 0
            }
            if !isThere { return TerminalText.safe(String(decoding: path[..<slash], as: UTF8.self)) }
            start = slash + 1
        }
        return nil
    }
}
