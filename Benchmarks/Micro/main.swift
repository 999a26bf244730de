import Glibc

// microbenchmarks NAME COUNT: does what NAME stands for COUNT times and prints something of the result.
// microbenchmarks: prints the names.
let arguments = CommandLine.arguments
if arguments.count == 1 {
    for benchmark in Benchmark.all { print(benchmark.name) }
} else if arguments.count == 3, let count = Int(arguments[2]),
    let benchmark = Benchmark.all.first(where: { $0.name == arguments[1] })
{
    print(benchmark.prepare()(count))
} else {
    print("usage: microbenchmarks [NAME COUNT]")
    exit(2)
}
