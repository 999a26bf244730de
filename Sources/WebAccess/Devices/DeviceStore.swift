import CLinux
import Glibc
import LinuxSystem
import NowPlayingClient

/// The file of the paired devices: `devices.json` in the state directory, with mode 0600. Each write replaces the whole
/// file and returns when it is on the disk.
package struct DeviceStore: Sendable {
    private let folder: String

    private static let name = "devices.json"
    private static let maximumBytes = 256 << 10

    /// The file in the folder of the settings, or in the default folder; nil: there is none. If that is on a read-only disk,
    /// the file is in memory (see `StateFolder`).
    package init?(_ settings: WebSettings, environment: (String) -> String? = SocketLocation.variable) {
        guard let folder = settings.stateDirectory ?? Self.usualFolder(environment) else { return nil }
        self.folder = StateFolder.usable(
            folder, of: "nowplaying-web", keeps: "the paired devices", environment: environment)
    }

    /// The default folder; nil: there is none.
    private static func usualFolder(_ environment: (String) -> String?) -> String? {
        func variable(_ name: String) -> String? { environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
        if let folder = variable("STATE_DIRECTORY")?.split(separator: ":").first { return String(folder) }
        if let folder = variable("XDG_STATE_HOME") { return folder + "/nowplaying-web" }
        if geteuid() == 0, environment("XDG_RUNTIME_DIR") == nil { return "/var/lib/nowplaying-web" }
        return variable("HOME").map { $0 + "/.local/state/nowplaying-web" }
    }

    /// The path of the file.
    package var path: String { folder + "/" + Self.name }

    /// The devices, and a sentence if a damaged file was moved aside. Throws if the file cannot be read.
    func load() throws(SystemError) -> (list: DeviceList, damage: String?) {
        let file = linux_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard file >= 0 else {
            if errno == ENOENT { return (DeviceList(), nil) }
            throw SystemError("open \(path)")
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.maximumBytes)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress! + count, $0.count - count) }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw SystemError("read \(path)") }
            if got == 0 { break }
            count += got
        }
        if let list = DeviceList(file: Array(bytes[..<count])) { return (list, nil) }
        let aside = path + ".broken"
        guard rename(path, aside) == 0 else { throw SystemError("rename \(path)") }
        return (DeviceList(), "\(path) is damaged; it is \(aside) now, and every device needs a new pairing")
    }

    /// Replaces the file.
    func save(_ list: DeviceList) throws(SystemError) {
        Self.makeFolder(folder)
        let fresh = path + ".new"
        unlink(fresh)
        let file = linux_open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw SystemError("make \(fresh)") }
        let bytes = Array(list.text.utf8)
        var done = 0
        var code: Int32 = 0
        while done < bytes.count, code == 0 {
            let count = bytes.withUnsafeBytes { write(file, $0.baseAddress! + done, $0.count - done) }
            if count > 0 { done += count } else if errno != EINTR { code = count < 0 ? errno : ENOSPC }
        }
        if code == 0, fsync(file) != 0 { code = errno }
        close(file)
        if code == 0, rename(fresh, path) != 0 { code = errno }
        guard code == 0 else {
            unlink(fresh)
            throw SystemError("write \(path)", code: code)
        }
        let directory = linux_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }

    /// Overwrites the digest of a device in the file, in its place: that works on a full disk, too. No token fits the rest.
    func strike(_ device: Device) throws(SystemError) {
        let file = linux_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard file >= 0 else { throw SystemError("open \(path)") }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.maximumBytes)
        let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress!, $0.count, 0) }
        guard count >= 0 else { throw SystemError("read \(path)") }
        let digest = Array(device.digest.utf8)
        let starts = 0..<max(0, count - digest.count + 1)
        guard let start = starts.first(where: { bytes[$0..<$0 + digest.count].elementsEqual(digest) }) else { return }
        let struck = Array(Device.struckDigest.utf8)
        guard pwrite(file, struck, struck.count, off_t(start)) == struck.count, fsync(file) == 0 else {
            throw SystemError("write \(path)")
        }
    }

    /// Makes the folder and its missing parents.
    private static func makeFolder(_ path: String) {
        if access(path, F_OK) == 0 { return }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex { makeFolder(String(path[..<slash])) }
        mkdir(path, 0o700)
    }
}
