// Splits a range of rows over threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace likely {

// Calls work(begin, end) on disjoint pieces of [0, count). threads = 0: as many as the machine has. A piece is never
// smaller than `grain`, so that little work stays on the calling thread. `work` may not throw.
template <class Work>
void parallel_for(std::size_t count, std::size_t grain, std::size_t threads, const Work& work) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = std::min(threads, std::max<std::size_t>(1, count / std::max<std::size_t>(1, grain)));
  const std::size_t piece = (count + threads - 1) / std::max<std::size_t>(1, threads);
  std::vector<std::thread> pool;  // not std::jthread, which Apple's library does not have yet
  for (std::size_t t = 1; t < threads; ++t)
    pool.emplace_back([&, t] { work(std::min(count, t * piece), std::min(count, (t + 1) * piece)); });
  work(0, std::min(count, piece));
  for (std::thread& thread : pool) thread.join();
}

}  // namespace likely
