import CLinux

/// The pages of this program's own file in memory.
package enum ProgramPages {
    /// Gives back the pages of code and constants that were needed up to now: what is needed again comes back from the
    /// kernel's cache at its next use, a microsecond each. Most of a program's megabytes are used once, when it starts. Any
    /// thread.
    package static func giveBack() { linux_give_back_program_pages() }

    /// Gives back the pages of the heap that nothing is left on: what is freed in between of what stays is kept by the
    /// allocator otherwise. Takes up to a millisecond. Any thread.
    package static func giveBackHeap() { linux_give_back_heap() }
}
