import CLinux
import Glibc

/// A shared library that is opened at its first use and stays open. Any thread but the loop: the open reads files.
package struct DynamicLibrary: @unchecked Sendable {
    // @unchecked: the handle is only read, and dlsym may be called from any thread.
    private let handle: UnsafeMutableRawPointer

    /// Opens a library by its name with version (`LIBRARY_SONIC_FILE`). Nil: it is not available.
    package init?(_ name: String) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        self.handle = handle
    }

    /// A function of the library, as the C type in its header. Nil: the library has no function of that name.
    package func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        dlsym(handle, name).map { unsafeBitCast($0, to: type) }
    }

    /// Releases the resident pages of its code and constants; `name` is one of its functions. The next use brings the
    /// pages back from the kernel's cache.
    package func giveBackPages(around name: String) {
        if let address = dlsym(handle, name) { linux_give_back_library_pages(address) }
    }
}
