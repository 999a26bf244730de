import Glibc
import TestSupport

/// A disk whose reads and openings fail with the error that the test sets, as from the kernel: a FUSE
/// file system of a small Python program.
final class FailingDisk {
    /// Mount point.
    let path: String
    private let order: String
    private let process: TestProcess

    // Debian's Python, which has the module, regardless of the path.
    /// True if such disks can be mounted here: by root, if the kernel has FUSE and Python its module for it.
    static let isAllowed: Bool = {
        guard geteuid() == 0, access("/dev/fuse", R_OK | W_OK) == 0 else { return false }
        return AudioMaterial.run("/usr/bin/python3", ["-c", "import fusepy"]) == 0
    }()

    /// A disk that is mounted at `failing` in this folder, with the files that `fill` writes into it.
    static func mount(in folder: TemporaryFolder, _ fill: (_ content: DiskContent) -> Void) async -> FailingDisk {
        let (path, content) = (folder.path("failing"), folder.path("failing.content"))
        mkdir(path, 0o755)
        mkdir(content, 0o755)
        fill(DiskContent(folder: folder, name: "failing.content"))
        let (program, order) = (folder.write(Array(program.utf8), "failing.py"), folder.path("failing.order"))
        let process = await LoopThread.run { TestProcess(["/usr/bin/python3", program, content, path, order]) }
        let disk = FailingDisk(path: path, order: order, process: process)
        precondition(becomes { disk.isMounted }, "the failing disk was not mounted")
        return disk
    }

    private init(path: String, order: String, process: TestProcess) {
        (self.path, self.order, self.process) = (path, order, process)
    }

    private var isMounted: Bool {
        var (inside, outside) = (stat(), stat())
        return stat(path, &inside) == 0 && stat(path + "/..", &outside) == 0 && inside.st_dev != outside.st_dev
    }

    /// From now on each read and each opening fails with this errno.
    func fail(_ code: Int32) { command("\(code)") }

    /// From now on a read of these bytes of `name` fails with EIO. All others succeed.
    func breakBlock(of name: String, _ bytes: Range<Int>) {
        command("\(EIO) /\(name) \(bytes.lowerBound) \(bytes.upperBound)")
    }

    /// From now on each read takes so many seconds.
    func slowDown(_ seconds: Double) { command("slow \(seconds)") }

    /// From now on reads get so many bytes a second.
    func pace(_ bytesPerSecond: Double) { command("pace \(bytesPerSecond)") }

    private func command(_ text: String) {
        let file = fopen(order + ".new", "w")!
        fputs(text, file)
        fclose(file)
        rename(order + ".new", order)
    }

    /// It works again.
    func recover() { unlink(order) }

    /// Takes it away for good.
    func end() {
        _ = AudioMaterial.run("umount", ["-l", path])
        process.end()
    }

    deinit { end() }

    /// Nothing of it is kept by the kernel (`direct_io`, no attributes), so that each question reaches it.
    private static let program = """
        import os, sys, time
        from fusepy import FUSE, FuseOSError, Operations

        content, mountpoint, order = sys.argv[1:]

        def orders():
            try:
                with open(order) as file:
                    return file.read().split()
            except FileNotFoundError:
                return [None]

        def await_turn(size):
            start, done = time.monotonic(), 0
            while done < size:
                time.sleep(0.01)
                code, *pace = orders()
                if code != "pace":
                    return
                now = time.monotonic()
                done += float(pace[0]) * (now - start)
                start = now

        def judge(name=None, offset=0, size=0):
            code, *block = orders()
            if code is None:
                return
            if code == "pace":
                await_turn(size)
                return
            if code == "slow":
                time.sleep(float(block[0]) if size else 0)
                return
            if block:
                broken, start, end = block[0], int(block[1]), int(block[2])
                if name != broken or offset >= end or offset + size <= start:
                    return
            raise FuseOSError(int(code))

        class Disk(Operations):
            def getattr(self, path, handle=None):
                if path != "/":
                    judge()
                try:
                    found = os.lstat(content + path)
                except OSError as error:
                    raise FuseOSError(error.errno)
                return {key: getattr(found, key) for key in
                        ("st_mode", "st_size", "st_nlink", "st_uid", "st_gid", "st_mtime", "st_ino")}

            def readdir(self, path, handle):
                judge()
                return [".", ".."] + os.listdir(content + path)

            def open(self, path, flags):
                judge()
                return os.open(content + path, os.O_RDONLY)

            def read(self, path, size, offset, handle):
                judge(path, offset, size)
                return os.pread(handle, size, offset)

            def release(self, path, handle):
                os.close(handle)

        FUSE(Disk(), mountpoint, foreground=True, nothreads=True, direct_io=True, ro=True, attr_timeout=0, entry_timeout=0)
        """
}
