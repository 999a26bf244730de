import CLinux
import Glibc

/// The process that becomes the speech program: a copy of this program that gives up all rights that speech does not need.
package enum SpeechChild {
    /// The word of the command line that starts the process. Only `Speech` uses it.
    package static let word = "--speak"

    /// Descriptors of the text's input and the sound's output.
    private static let (text, sound): (Int32, Int32) = (3, 4)

    /// Files and folders that programs of the system need.
    private static let files = [
        "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc/alternatives", "/etc/ld.so.cache",
        "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/locale.alias", "/etc/localtime", "/dev/urandom", "/dev/random",
        "/dev/zero", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu",
    ]

    /// Becomes the program. `arguments`: the id of the parent process, the program's path and its arguments.
    package static func run(_ arguments: [String]) -> Never {
        guard arguments.count >= 2, let parent = pid_t(arguments[0]), linux_harden_process() == 0, getppid() == parent,
            setsid() >= 0, dup2(text, 0) == 0, dup2(sound, 1) == 1
        else { _exit(64) }
        close(text)
        close(sound)
        _ = chdir("/")
        guard limit() else { _exit(69) }
        let program = Array(arguments.dropFirst())
        // Arguments that are paths may name the program's voices.
        let paths = files + program.filter { $0.hasPrefix("/") }
        let constants = paths.map { UnsafePointer(strdup($0)) }
        guard linux_confine_program(constants, Int32(constants.count)) == 0 else { _exit(69) }
        var words = terminated(program)
        var environment = terminated(["PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/"])
        execve(program[0], &words, &environment)
        _exit(127)
    }

    /// Texts in the form of execve(2). They are never freed, as another program replaces this one.
    private static func terminated(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }

    /// Maximum bytes of a file in memory, which audio libraries make at their start. Other files cannot be written.
    private static let memoryFile: UInt = 256 << 20

    /// Sets permanent limits of the kernel for the program. False: that failed.
    private static func limit() -> Bool {
        set(RLIMIT_CORE, 0) && set(RLIMIT_FSIZE, memoryFile) && set(RLIMIT_AS, 4 << 30) && set(RLIMIT_NOFILE, 256)
            && set(RLIMIT_CPU, 4 * UInt(Speech.seconds))
    }

    private static func set(_ resource: __rlimit_resource, _ value: UInt) -> Bool {
        var limit = rlimit(rlim_cur: value, rlim_max: value)
        return setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0
    }
}
