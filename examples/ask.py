"""Sample a random question network, describe and draw it, and compute its true answers in a small room."""

import rgvf

room = rgvf.environments.GridWorld(size=7, goal=(0, 1))
network = rgvf.questions.random_network(["touch"], room.actions, discount=0.8, depth=3, repeat=1, seed=0)
print(network)
node = network.predictions[-1]
print(f"Question {node}: {network.describe(node)}")
answers = rgvf.questions.exact_answers(network, room.mdp(), room.uniform_policy())
print("Its true answer in every cell of the room:")
print(answers[:, -1].reshape(7, 7).round(2))
print("Drawn:", network.draw("questions.svg"))
