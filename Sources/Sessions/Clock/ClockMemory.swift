import CLinux
import Glibc
import LinuxSystem

/// The memory of a clock page; nowplayingd-clock(7) has its layout. Unmapped with its last owner.
final class ClockMemory: @unchecked Sendable {
    /// Address of the page, constant while the object lives.
    private let page: UnsafeMutableRawPointer
    /// The file that readers map.
    let file: OwnedDescriptor

    /// Makes an empty page. Throws when memory or descriptors are short, or the kernel has no seals (before Linux 5.1).
    init() throws(SystemError) {
        var descriptor: Int32 = -1
        guard let page = linux_clock_page_make(&descriptor) else { throw SystemError("make a clock page") }
        self.page = page
        file = OwnedDescriptor(descriptor)
    }

    /// Replaces the content. One thread at a time: the loop.
    func write(_ clock: inout nowplayingd_clock) { linux_clock_page_write(page, &clock) }

    /// Wakes all readers that wait for a change. Any thread; takes milliseconds with thousands of them.
    func wake() { linux_clock_page_wake(page) }

    deinit { linux_clock_page_unmap(page) }
}
