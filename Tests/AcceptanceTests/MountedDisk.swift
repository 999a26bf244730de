import CLinux
import Glibc
import TestSupport

/// A disk of its own: an ext4 file system in a file, mounted by way of a loop device, which can be pulled and put back.
final class MountedDisk: Sendable {
    /// Mount point.
    let path: String
    private let image: String

    /// True if disks can be mounted here: by root, if the kernel has loop devices.
    static let isAllowed: Bool = {
        let folder = TemporaryFolder()
        return MountedDisk(in: folder)?.pull() != nil
    }()

    /// True if file systems in memory can be mounted here.
    static let mayMountMemory: Bool = {
        let folder = TemporaryFolder()
        guard geteuid() == 0, Glibc.mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0 else { return false }
        return umount2(folder.path, Int32(MNT_DETACH)) == 0
    }()

    /// Number of mounts and unmounts on this machine in this number of seconds from now on.
    static func changes(seconds: Double) -> Int {
        let table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        defer { close(table) }
        let end = now() + seconds
        var count = 0
        while now() < end {
            var polled = pollfd(fd: table, events: Int16(POLLPRI), revents: 0)
            if poll(&polled, 1, Int32(max(1, (end - now()) * 1000))) > 0 { count += 1 }
        }
        return count
    }

    /// An empty disk that is mounted at `disk` in this folder. Nil: that is not allowed here.
    init?(in folder: TemporaryFolder) {
        path = folder.path("disk")
        image = folder.path("disk.img")
        mkdir(path, 0o755)
        guard geteuid() == 0, AudioMaterial.run("truncate", ["-s", "16M", image]) == 0,
            AudioMaterial.run("mkfs.ext4", ["-q", "-F", image]) == 0, mount()
        else { return nil }
    }

    /// Puts it back. False: it can't be.
    @discardableResult func mount() -> Bool {
        AudioMaterial.run("mount", ["-o", "loop", image, path]) == 0
    }

    /// Pulls the disk, even with open files. Every read then fails with EIO, and the disk is unmounted.
    func pull() {
        shutDown(1)
        unmount()
    }

    /// Cuts the power of the disk. Unsynced data is lost, and the disk is unmounted.
    func cutPower() {
        shutDown(2)
        unmount()
    }

    /// FS_IOC_SHUTDOWN, of which Glibc has no name: from now on nothing is read or written. `kind` 1: after its journal, 2: at
    /// once.
    private func shutDown(_ kind: UInt32) {
        let folder = open(path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        var flags = kind
        _ = ioctl(folder, 0x8004_587D, &flags)
        close(folder)
    }

    /// Unmounts the disk in order; open files stay readable.
    func unmount() { _ = AudioMaterial.run("umount", ["-l", path]) }

    deinit { unmount() }
}
