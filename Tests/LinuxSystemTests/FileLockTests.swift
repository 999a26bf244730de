import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite struct FileLockTests {
    private let folder = TemporaryFolder()

    /// A process that holds the lock of the file for a while, once it does.
    private func holder(seconds: Double) -> TestProcess {
        let process = TestProcess(
            ["flock", "--exclusive", folder.path("lock"), "sh", "-c", "echo held; exec sleep \(seconds)"], output: true)
        var byte: UInt8 = 0
        #expect(read(process.output, &byte, 1) == 1)
        return process
    }

    @Test("a lock that is held for a dead process is waited for") func deadOwner() throws {
        let dead = TestProcess(["true"])
        dead.wait()
        _ = folder.write(Array("\(dead.pid)\n".utf8), "lock")
        let process = holder(seconds: 0.2)
        let lock = try FileLock(folder.path("lock"))
        withExtendedLifetime(lock) {
            #expect(folder.read("lock") == Array("\(getpid())\n".utf8))
            #expect(throws: FileLock.Failure.held(pid: getpid())) { try FileLock(folder.path("lock")) }
        }
        process.wait()
    }

    @Test("a lock that a living process holds is refused with its pid", arguments: ["", "1\n", "nobody\n"])
    func livingOwner(_ text: String) {
        _ = folder.write(Array(text.utf8), "lock")
        let process = holder(seconds: 60)
        #expect(throws: FileLock.Failure.held(pid: text == "1\n" ? 1 : nil)) { try FileLock(folder.path("lock")) }
        process.signal(SIGKILL)
        process.wait()
    }

    @Test("an owner that stays dead is asked for a bounded time") func patience() {
        let dead = TestProcess(["true"])
        dead.wait()
        var asked = 0
        DeadOwner.outlive {
            asked += 1
            return dead.pid
        }
        #expect(asked == 1000)
        asked = 0
        for pid in [getpid(), nil] {
            DeadOwner.outlive {
                asked += 1
                return pid
            }
        }
        #expect(asked == 2)
    }
}
