import Glibc
import TestSupport

/// A disk of a separate process (fuse2fs). It can hang, so that reads end neither with data nor with an error. It can be
/// removed while processes have its files open.
final class FUSEDisk {
    /// Mount point.
    let path: String
    private let image: String
    private var process: TestProcess?

    /// True if such disks can be mounted here: by root, if the kernel has FUSE.
    static let isAllowed: Bool = {
        guard geteuid() == 0, access("/dev/fuse", R_OK | W_OK) == 0 else { return false }
        return AudioMaterial.run("sh", ["-c", "command -v fuse2fs mkfs.ext4"]) == 0
    }()

    /// A disk that is mounted at `fuse` in this folder, with the files that `fill` writes into it.
    static func mount(in folder: TemporaryFolder, _ fill: (_ content: DiskContent) -> Void) async -> FUSEDisk {
        let disk = FUSEDisk(in: folder, fill)
        await disk.mount()
        return disk
    }

    private init(in folder: TemporaryFolder, _ fill: (_ content: DiskContent) -> Void) {
        path = folder.path("fuse")
        image = folder.path("fuse.img")
        let content = folder.path("fuse.content")
        mkdir(path, 0o755)
        mkdir(content, 0o755)
        fill(DiskContent(folder: folder, name: "fuse.content"))
        precondition(
            AudioMaterial.run("truncate", ["-s", "400M", image]) == 0
                && AudioMaterial.run("mkfs.ext4", ["-q", "-F", "-d", content, image]) == 0)
    }

    /// Mounts it, and returns when it is mounted.
    func mount() async {
        let (image, path) = (image, path)
        process = await LoopThread.run { TestProcess(["fuse2fs", "-f", "-o", "ro", image, path]) }
        precondition(becomes { self.isMounted }, "fuse2fs did not mount")
    }

    private var isMounted: Bool {
        var (inside, outside) = (stat(), stat())
        return stat(path, &inside) == 0 && stat(path + "/..", &outside) == 0 && inside.st_dev != outside.st_dev
    }

    /// Makes reads of uncached data hang.
    func hang() {
        process?.signal(SIGSTOP)
        // A thread of it may answer until another one has taken the signal.
        precondition(becomes { self.isStopped }, "fuse2fs did not stop")
    }

    /// True once all threads of its process have stopped.
    private var isStopped: Bool {
        guard let process, let folder = opendir("/proc/\(process.pid)/task") else { return false }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let first = name.first, first != "." else { continue }
            guard let file = fopen("/proc/\(process.pid)/task/\(name)/stat", "r") else { return false }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 512)
            guard fgets(&line, 512, file) != nil else { return false }
            // Behind the name in brackets.
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.split(separator: ")").last?.split(separator: " ").first == "T" else { return false }
        }
        return true
    }

    /// Reads return again, those that hang, too.
    func goOn() { process?.signal(SIGCONT) }

    /// Its process is gone: every read fails with ENOTCONN, and it is not mounted any more.
    func pull() {
        process?.signal(SIGKILL)
        process?.wait()
        process = nil
        unmount()
    }

    private func unmount() { _ = AudioMaterial.run("umount", ["-l", path]) }

    /// Takes it away for good.
    func end() {
        goOn()
        unmount()
        process?.end()
        process = nil
    }

    deinit { end() }
}

/// Content of a disk: a folder in that of a test.
struct DiskContent {
    let folder: TemporaryFolder
    /// The folder's name in it.
    let name: String

    /// A minute of silence of which a buffer holds no more than a second and a half.
    func wideSilence(_ file: String) {
        _ = folder.silence("\(name)/\(file)", seconds: 60, rate: 192_000, channels: 8)
    }
}
