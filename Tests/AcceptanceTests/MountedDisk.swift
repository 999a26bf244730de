import CLinux
import Glibc
import TestSupport

/// A disk of its own: an ext4 file system in a file, mounted by way of a loop device, which can be pulled and put back.
final class MountedDisk: Sendable {
    /// Where it is mounted.
    let path: String
    private let image: String

    /// Whether disks may be mounted here: root may, where the kernel has loop devices.
    static let isAllowed: Bool = {
        let folder = TemporaryFolder()
        return MountedDisk(in: folder)?.pull() != nil
    }()

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

    /// Pulls it, whatever is open on it: from now on every read fails with EIO, and it is not mounted any more.
    func pull() {
        let folder = open(path, O_RDONLY | O_CLOEXEC)
        if folder >= 0 {
            // FS_IOC_SHUTDOWN, of which Glibc has no name; 1: at once, but for its journal.
            var flags: UInt32 = 1
            _ = ioctl(folder, 0x8004_587D, &flags)
            close(folder)
        }
        unmount()
    }

    /// Takes it away in order; what is open on it stays readable.
    func unmount() { _ = AudioMaterial.run("umount", ["-l", path]) }

    deinit { unmount() }
}
