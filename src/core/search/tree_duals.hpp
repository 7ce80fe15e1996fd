// Lagrangian decomposition of a sum of trees: lower bounds of the cost of all rows of a box that reach the goals.
//
// Every tree gets its own copy of the features that it tests. For any prices mu >= 0 of the goals and any shares m_tj of the
// cost of feature j that tree t is charged, every row that reaches the goals costs at least
//   sum_g mu_g lower_g + sum_j min over v of [cost_j(v) - sum_t m_tj(v)]
//                      + sum_t min over leaves of [sum_j min over v in the leaf of m_tj(v) - sum_g mu_g gain_g(leaf)]
// (Guignard and Kim 1987, "Lagrangean decomposition"). The best of these bounds is that of the linear programme in which every
// tree has a weight on each of its leaves, every feature one on each of its values, and these agree. A share is constant on the
// parts into which the tree's own tests cut the feature. Shares are sought by block-coordinate ascent, feature by feature
// (Globerson and Jaakkola 2007, "Fixing max-product"), prices along their slope: no claim rests on how good they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tree_links.hpp"

namespace likely::search {

// The dual variables of a node; in single precision where there are many, since any numbers will do.
struct TreePrices {
  std::vector<float> shares;  // m, of all values of all links; infinite: no row has the value
  std::vector<double> goals;  // mu
};

// Those of one component of a likelihood: the price of a unit of cost, in nats, the points of its tangents, and its own
// decomposition, in nats: none before it was sought.
struct TreePartPrices {
  double cost = 0;
  std::vector<double> points;
  TreePrices trees;
  double upper = 0;  // of the component less the price times the cost: what was proved with these of the node, or of its parent
};

// All of a node: of the cost alone, and of every component; those that are its parent's are shared with it.
struct TreeNodePrices {
  TreePrices cost;
  std::vector<std::shared_ptr<const TreePartPrices>> parts;
  std::size_t bytes = 0;  // of the parts that are not shared
};

class TreeDuals {
 public:
  TreeDuals(const TreeLinks& links, const std::vector<Goal>& goals);
  // Of so many goals, to which leaves add what is set before a box is entered.
  TreeDuals(const TreeLinks& links, std::size_t goals);
  void set_gains(TreeGains gains);

  // Looks at a box from now on, and at the leaves of each tree that it reaches within the budget. `lower`: what each goal must
  // reach. `from`: where to begin; none: at a guess. `costs`: what values cost; none: what the domain says. False if no row is
  // left.
  bool enter(Box& box, double budget, const std::vector<double>& lower, const TreePrices* from,
             const ValueCosts* costs = nullptr);
  // Better shares and prices, until the bound reaches `enough` or hardly rises any more, or after so many sweeps.
  void ascend(double enough, int sweeps);
  // The bound that they give, in outward rounding; infinite if no row is left. Leaves that no row below the cut-off reaches go.
  double bound(double cutoff);
  // After it: the reduced costs of all values.
  void reduce_costs();
  // After that: removes values that no row below the cut-off has; true if any went.
  bool filter(double cutoff);
  // By how much rows with a value cost more than the bound, at least.
  double above_bound(std::size_t j, double reduced) const;
  double cell_reduced(std::size_t at) const { return cell_reduced_[at]; }  // above the least of the feature
  double atom_reduced(std::size_t at) const { return atom_reduced_[at]; }
  // What the shares of all trees take of the costs of a feature's values; infinite where no row has the value. Of a row that
  // reaches the goals, they take at least `owed` in all.
  void taken(std::size_t j, std::vector<double>& of_cell, std::vector<double>& of_atom);
  double owed() const;
  TreePrices prices() const { return {{shares_.begin(), shares_.end()}, prices_}; }

  // After `reduce_costs`: the row of the values of least reduced cost.
  void cheapest_row(std::vector<double>& row) const;
  // And where the dual is least decided: between a cell and the next, or between an atom and the rest.
  struct Cut {
    std::size_t feature;
    std::int32_t cell, atom;  // one of them is -1
    double rank;              // 0: there is none
  };
  Cut best_cut(double gap) const;

 private:
  using Link = TreeLinks::Link;
  using Span = TreeLinks::Span;
  // A link whose tree says something about its feature, and where the least reduced costs without the feature begin, per value.
  struct Use {
    std::uint32_t link;
    std::size_t without;
  };

  void measure_costs(const ValueCosts* costs);
  double excess(const Forest::Leaf& leaf) const;
  bool find_leaves(double spare);
  void find_parts();
  void close_trees();
  void guess_prices(double spare);
  void refresh();
  double price_of(std::uint32_t leaf) const;
  template <class Work>
  void each_value(std::size_t link, const Span& span, const Work& work) const;
  template <class Work>
  void each_part(std::size_t link, const Work& work) const;
  double least_share(std::size_t link, const Span& span) const;
  double least_left(std::size_t j, double& size);
  double size_of_tree(std::size_t t) const;
  void drop_leaves(double cutoff);
  void begin_sum(std::size_t j);
  void add_to_cells(std::size_t from, std::size_t to, double value);
  void finish_sum(std::size_t j);
  void find_without(std::uint32_t link, double* without) const;
  void gather(std::size_t j);
  void distribute(std::size_t j);
  double sweep(bool backwards);
  void step_prices();
  std::vector<double> slopes() const;
  Cut best_cut_of(std::size_t j, double gap) const;

  const TreeLinks& links_;
  const Forest& forest_;
  const Domain& domain_;
  std::size_t goal_count_;
  std::vector<double> gain_;  // per leaf and goal
  std::vector<double> base_;  // per goal

  // Of the box:
  Box* box_ = nullptr;
  std::vector<double> cell_cost_, below_, above_;  // the least of a cell, of the cells up to it, and of those from it on
  std::vector<double> atom_cost_;
  std::vector<double> cheapest_;  // per feature
  std::vector<std::int32_t> cheapest_cell_;
  std::vector<std::uint32_t> leaves_;      // that are reached, by tree
  std::vector<std::uint32_t> first_leaf_;  // per tree, and in the end how many
  std::vector<bool> open_;                 // per tree: whether it had several when the box was entered; else it has no shares
  std::vector<std::pair<std::int32_t, std::int32_t>> parts_;  // per link: the first and the last in the box
  std::vector<double> missing_;                               // per goal: what the trees must add up to
  std::vector<double> shares_, prices_;
  std::vector<double> step_;  // of the logarithm of each price, with its sign; at first, how far
  // Of every reached leaf: its reduced cost, and the least share of each link in it, from first_low_ on.
  std::vector<double> reduced_, lows_;
  std::vector<std::size_t> first_low_;
  std::vector<double> best_;               // per tree: the least reduced cost of its leaves
  std::vector<double> left_;               // per feature: the least that the trees leave of its costs
  double bound_ = 0, rounding_ = 0;        // the latter is already taken off
  std::vector<double> of_cell_, of_atom_;  // a sum over links, of the values of one feature
  std::vector<int> excluded_;              // how many links exclude a cell
  std::vector<Use> uses_;                  // of the feature that was gathered last
  std::vector<double> without_;
  std::vector<double> cell_reduced_, atom_reduced_;  // over all cells and atoms: above the least of the feature
  std::vector<double> least_above_;                  // per feature: by how much the bound of its best value is above the bound
};

}  // namespace likely::search
