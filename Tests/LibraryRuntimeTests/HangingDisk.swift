import Foundation
import TestSupport

/// A disk that can be frozen, so that no call into it returns: a FUSE file system of a small Python program, of which the
/// kernel keeps nothing.
final class HangingDisk {
    /// Mount point.
    let path: String
    /// Folder with its content, which can be changed from below.
    let content: String
    private let process: TestProcess
    /// Folder in which the kernel lists its connections to such disks.
    private let control: String
    /// File with the number of calls that this disk has not answered.
    private let waiting: String

    /// True if such disks can be mounted here: by root, if the kernel has FUSE and Python its module for it.
    static let isAllowed: Bool = {
        guard geteuid() == 0, access("/dev/fuse", R_OK | W_OK) == 0 else { return false }
        return AudioMaterial.run("/usr/bin/python3", ["-c", "import fusepy"]) == 0
    }()

    /// A disk at `disk` in this folder, with the content of the folder `content` there.
    static func mount(in folder: TemporaryFolder) async -> HangingDisk {
        let (path, content) = (folder.folder("disk"), folder.folder("content"))
        let control = folder.folder("control")
        precondition(AudioMaterial.run("mount", ["-t", "fusectl", "none", control]) == 0, "there is no fusectl")
        let program = folder.write(Array(program.utf8), "hanging.py")
        let process = await LoopThread.run { TestProcess(["/usr/bin/python3", program, content, path]) }
        var (inside, outside) = (stat(), stat())
        let isMounted = becomes {
            stat(path, &inside) == 0 && stat(folder.path, &outside) == 0 && inside.st_dev != outside.st_dev
        }
        precondition(isMounted, "the disk was not mounted")
        // The kernel names the connection by the number of the device, whose minor part is in two places.
        let number = inside.st_dev & 0xFF | inside.st_dev >> 12 & ~0xFF
        return HangingDisk(path, content, process, control, waiting: "\(control)/\(number)/waiting")
    }

    private init(_ path: String, _ content: String, _ process: TestProcess, _ control: String, waiting: String) {
        (self.path, self.content, self.process, self.control) = (path, content, process, control)
        self.waiting = waiting
    }

    /// From now on no call into it returns. None is under way: a program can be killed while a call waits for the disk, but not
    /// while the disk works on it.
    func freeze() {
        repeat {
            process.signal(SIGCONT)
            precondition(becomes { calls == 0 }, "the disk has not answered, or there is no \(waiting)")
            process.signal(SIGSTOP)
            precondition(becomes { isStopped }, "the disk was not stopped")
        } while calls != 0
    }

    /// True once it has come to a standstill.
    private var isStopped: Bool {
        let status = (try? String(contentsOfFile: "/proc/\(process.pid)/stat", encoding: .utf8)) ?? ""
        return status.split(separator: ")").last?.hasPrefix(" T") == true
    }

    /// Number of calls that it has not answered; nil: the kernel does not say.
    private var calls: Int? {
        (try? String(contentsOfFile: waiting, encoding: .utf8))
            .flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// Calls into it return again, those that hang, too.
    func thaw() { process.signal(SIGCONT) }

    /// Takes it away for good: calls that hang fail.
    func end() {
        _ = AudioMaterial.run("umount", ["-l", path, control])
        process.end()
    }

    deinit { end() }

    // Without `flush`, which a process that ends would wait for.
    private static let program = """
        import errno, os, sys
        from fusepy import FUSE, FuseOSError

        content, mountpoint = sys.argv[1:]

        class Disk:
            def __call__(self, name, *arguments):
                return getattr(self, name)(*arguments)

            def getattr(self, path, handle=None):
                try:
                    found = os.lstat(content + path)
                except OSError as error:
                    raise FuseOSError(error.errno)
                return {key: getattr(found, key) for key in
                        ("st_mode", "st_size", "st_nlink", "st_uid", "st_gid", "st_mtime", "st_ino")}

            def readdir(self, path, handle):
                return [".", ".."] + os.listdir(content + path)

            def open(self, path, flags):
                return os.open(content + path, os.O_RDONLY)

            def read(self, path, size, offset, handle):
                return os.pread(handle, size, offset)

            def release(self, path, handle):
                os.close(handle)
                return 0

        FUSE(Disk(), mountpoint, foreground=True, nothreads=True, direct_io=True, ro=True, attr_timeout=0,
             entry_timeout=0)
        """
}
