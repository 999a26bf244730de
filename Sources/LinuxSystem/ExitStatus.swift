/// Exit statuses of the programs.
package enum ExitStatus {
    /// The program cannot start or continue now; another attempt may succeed.
    package static let failure: Int32 = 1
    /// The configuration cannot work (EX_CONFIG of sysexits.h). The units do not start the program again.
    package static let configuration: Int32 = 78
}
