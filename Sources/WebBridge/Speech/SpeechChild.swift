import CLinux
import Glibc

/// The process that becomes the speech program: this program again, which gives up all that the other does not need.
package enum SpeechChild {
    /// The word of the command line that starts it. `Speech` alone uses it.
    package static let word = "--speak"

    /// Descriptors under which it gets the text and takes the sound.
    private static let (text, sound): (Int32, Int32) = (3, 4)

    /// Files that programs of the system need, with all below them.
    private static let files = [
        "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc/alternatives", "/etc/ld.so.cache",
        "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/locale.alias", "/etc/localtime", "/dev/urandom", "/dev/random",
        "/dev/zero", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu",
    ]

    /// Becomes the program. `arguments`: the number of the process that asks, the program's path and its arguments.
    package static func run(_ arguments: [String]) -> Never {
        guard arguments.count >= 2, let parent = pid_t(arguments[0]), linux_harden_process() == 0, getppid() == parent,
            setsid() >= 0, dup2(text, 0) == 0, dup2(sound, 1) == 1
        else { _exit(64) }
        close(text)
        close(sound)
        _ = chdir("/")
        guard limit() else { _exit(69) }
        let program = Array(arguments.dropFirst())
        // Arguments that are paths name the voices of the program.
        let paths = files + program.filter { $0.hasPrefix("/") }
        let constants = paths.map { UnsafePointer(strdup($0)) }
        guard linux_confine_program(constants, Int32(constants.count)) == 0 else { _exit(69) }
        var words = terminated(program)
        var environment = terminated(["PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/"])
        execve(program[0], &words, &environment)
        _exit(127)
    }

    /// Texts as execve(2) takes them. Nobody frees them: another program follows.
    private static func terminated(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }

    /// Most bytes of a file in memory, which libraries of sound make at their start; others cannot be written at all.
    private static let memoryFile: UInt = 256 << 20

    /// Sets bounds that the kernel holds the program to, for good. False: it does not.
    private static func limit() -> Bool {
        set(RLIMIT_CORE, 0) && set(RLIMIT_FSIZE, memoryFile) && set(RLIMIT_AS, 4 << 30) && set(RLIMIT_NOFILE, 256)
            && set(RLIMIT_CPU, 4 * UInt(Speech.seconds))
    }

    private static func set(_ resource: __rlimit_resource, _ value: UInt) -> Bool {
        var limit = rlimit(rlim_cur: value, rlim_max: value)
        return setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0
    }
}
