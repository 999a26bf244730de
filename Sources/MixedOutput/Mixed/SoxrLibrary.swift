import CLibraryNames
import CSoxr
import LinuxSystem

/// libsoxr, opened for the first mixed output. The functions are those of soxr.h 0.1.3.
struct SoxrLibrary: Sendable {
    /// Input rate, output rate, channels, error, and the settings that differ from the default.
    typealias Create =
        @convention(c) (
            Double, Double, UInt32, UnsafeMutablePointer<soxr_error_t?>?, UnsafePointer<soxr_io_spec_t>?,
            UnsafePointer<soxr_quality_spec_t>?, UnsafePointer<soxr_runtime_spec_t>?
        ) -> soxr_t?
    /// Takes frames (nil: the end) and returns frames; counts both.
    typealias Process =
        @convention(c) (
            soxr_t, UnsafeRawPointer?, Int, UnsafeMutablePointer<Int>?, UnsafeMutableRawPointer?, Int,
            UnsafeMutablePointer<Int>?
        ) -> soxr_error_t?
    typealias Quality = @convention(c) (UInt, UInt) -> soxr_quality_spec_t
    typealias Formats = @convention(c) (soxr_datatype_t, soxr_datatype_t) -> soxr_io_spec_t

    let create: Create
    let process: Process
    /// Prepares for a new signal of the same format.
    let clear: @convention(c) (soxr_t) -> soxr_error_t?
    let delete: @convention(c) (soxr_t) -> Void
    let quality: Quality
    let formats: Formats

    /// Nil: it is not installed, or lacks a function. Opened once in the life of the process.
    static let shared: SoxrLibrary? = SoxrLibrary()

    private init?() {
        guard let library = DynamicLibrary(LIBRARY_SOXR_FILE),
            let create = library.function("soxr_create", as: Create.self),
            let process = library.function("soxr_process", as: Process.self),
            let clear = library.function("soxr_clear", as: (@convention(c) (soxr_t) -> soxr_error_t?).self),
            let delete = library.function("soxr_delete", as: (@convention(c) (soxr_t) -> Void).self),
            let quality = library.function("soxr_quality_spec", as: Quality.self),
            let formats = library.function("soxr_io_spec", as: Formats.self)
        else { return nil }
        self.create = create
        self.process = process
        self.clear = clear
        self.delete = delete
        self.quality = quality
        self.formats = formats
    }
}
